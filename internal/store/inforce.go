// Copyright The Penstock Authors.
// SPDX-License-Identifier: Apache-2.0

package store

import (
	"errors"
	"maps"
	"sync"

	"github.com/penstock-dev/penstock/internal/ruleset"
)

// Update is a rule set to put in force.
type Update struct {
	Sequence int64
	Revision string
	RuleSet  *ruleset.RuleSet
	// LivePods are the live pods by PolicyKey; nil where nobody counted yet.
	LivePods map[string]int64
}

// Problems that keep a published rule set from being put in force.
const (
	// ProblemUnsupportedFormat is a rule set that only a newer program reads.
	ProblemUnsupportedFormat = "UnsupportedFormat"
	// ProblemInvalidRuleSet is one that is damaged or does not compile.
	ProblemInvalidRuleSet = "InvalidRuleSet"
)

// Standing says what a sidecar has in force, for its ack.
type Standing struct {
	// Sequence and Revision are those of the rule set in force; 0 and empty where
	// there is none yet.
	Sequence int64
	Revision string
	// Problem says why a newer one is not in force; empty where none waits.
	Problem string
}

// Events are what an InForce calls, one at a time and never concurrently.
type Events struct {
	// Apply puts an update in force before it returns. With an error the former
	// one stays, and the standing tells ProblemInvalidRuleSet.
	Apply func(Update) error
	// Changed is told each new standing, after Apply returned: what it says is
	// true by then. Nil tells nobody.
	Changed func(Standing)
	// Confirmed is called when the store was found to have nothing newer than what is
	// in force. Nil tells nobody.
	Confirmed func()
}

// InForce lets rule sets of one namespace through to Apply, from whatever source:
// never an older one after a newer one, and never one that cannot be read.
type InForce struct {
	namespace string
	events    Events

	mu      sync.Mutex
	current Update // RuleSet is nil before the first
	// seen is the newest sequence that was looked at, in force or not.
	seen    int64
	problem string
}

// NewInForce returns an InForce with nothing in force. Events.Apply is required.
func NewInForce(namespace string, events Events) *InForce {
	return &InForce{namespace: namespace, events: events}
}

// Namespace is the namespace whose rule sets are let through.
func (f *InForce) Namespace() string { return f.namespace }

// Standing says what is in force.
func (f *InForce) Standing() Standing {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.standing()
}

func (f *InForce) standing() Standing {
	return Standing{Sequence: f.current.Sequence, Revision: f.current.Revision, Problem: f.problem}
}

// Offer puts a snapshot in force, unless something as new was seen already. One
// that cannot be read does not count as seen: its copy in the store may be good.
func (f *InForce) Offer(published ruleset.Published) error {
	if published.Sequence < 1 {
		return nil
	}
	found := head{sequence: published.Sequence, revision: published.Revision, format: ruleset.Format}
	f.mu.Lock()
	defer f.mu.Unlock()
	seen := f.seen
	err := f.take(found, func() []byte { return published.Body })
	if err != nil {
		f.seen = seen
	}
	return err
}

// wants reports whether a head is news, and whether its body is needed for it.
func (f *InForce) wants(found head) (news, body bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if found.sequence <= f.seen {
		return f.liveChanged(found), false
	}
	return true, f.current.RuleSet == nil || found.revision != f.current.Revision
}

// liveChanged reports whether the head has other counts for what is in force.
func (f *InForce) liveChanged(found head) bool {
	return f.current.RuleSet != nil && found.sequence == f.current.Sequence &&
		found.live != nil && !maps.Equal(found.live, f.current.LivePods)
}

// accept puts what a head tells of in force. The body is asked for only where the
// content differs from what is in force.
func (f *InForce) accept(found head, body func() []byte) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.take(found, body)
}

// take is accept, for those who hold the lock.
func (f *InForce) take(found head, body func() []byte) error {
	if found.sequence <= f.seen && !f.liveChanged(found) {
		return nil
	}
	newer := found.sequence > f.seen
	f.seen = max(f.seen, found.sequence)
	update := Update{Sequence: found.sequence, Revision: found.revision, RuleSet: f.current.RuleSet, LivePods: found.live}
	if update.LivePods == nil {
		update.LivePods = f.current.LivePods
	}
	if update.RuleSet == nil || found.revision != f.current.Revision {
		rs, err := decode(f.namespace, found.format, body())
		if err != nil {
			return f.refuse(err)
		}
		update.RuleSet = rs
	}
	if err := f.events.Apply(update); err != nil {
		return f.refuse(err)
	}
	f.current = update
	if newer {
		f.problem = ""
		f.tell()
	}
	return nil
}

// refuse notes why the newest rule set is not in force; the last one stays.
func (f *InForce) refuse(err error) error {
	f.problem = ProblemInvalidRuleSet
	if errors.Is(err, ruleset.ErrUnsupportedFormat) {
		f.problem = ProblemUnsupportedFormat
	}
	f.tell()
	return err
}

// confirm tells that a head has nothing newer than what is in force. One that is gone
// or older says nothing: a store that lost its data has no say.
func (f *InForce) confirm(found head) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.events.Confirmed != nil && f.current.RuleSet != nil && f.problem == "" && found.sequence == f.current.Sequence {
		f.events.Confirmed()
	}
}

func (f *InForce) tell() {
	if f.events.Changed != nil {
		f.events.Changed(f.standing())
	}
}
