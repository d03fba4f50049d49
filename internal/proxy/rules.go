// Copyright The Penstock Authors.
// SPDX-License-Identifier: Apache-2.0

package proxy

import (
	"context"
	"sync"
	"sync/atomic"
	"time"

	"github.com/penstock-dev/penstock/internal/match"
)

// PolicyID names a policy within a namespace's rule set.
type PolicyID struct {
	// Kind is RateLimitPolicy or ClusterRateLimitPolicy.
	Kind string
	Name string
}

// Rules is what a server enforces. It must not change once it is set: a new
// rule set or new counts of pods are a new Rules.
type Rules struct {
	// Matcher holds the rules of this pod.
	Matcher *match.Matcher
	// Namespace is the namespace that counters belong to.
	Namespace string
	// Revision names the rule set's content in metrics.
	Revision string
	// Sequence is the number of its publication; 0 where there was none.
	Sequence int64
	// LivePods is how many pods share each policy's limits while the store is
	// away. Absent or less than 1 counts as 1.
	LivePods map[PolicyID]int64
}

func (r *Rules) livePods(kind, name string) int64 {
	return max(r.LivePods[PolicyID{Kind: kind, Name: name}], 1)
}

// rulesGate holds the rules in force, and requests back until there are some or
// the wait for them is over.
type rulesGate struct {
	current atomic.Pointer[inForce]
	setting sync.Mutex
	// confirmed is when the rules in force were last known to be the newest, in
	// Unix nanoseconds; 0 before the first.
	confirmed atomic.Int64
	opened    chan struct{}
	open      func()
}

// inForce are rules with what became of those before them.
type inForce struct {
	*Rules
	lowered lowered
	// proxies watches for peers that are no clients.
	proxies *peerSightings
	// since is when they came into force here.
	since time.Time
}

func newRulesGate() *rulesGate {
	gate := &rulesGate{opened: make(chan struct{})}
	gate.open = sync.OnceFunc(func() { close(gate.opened) })
	return gate
}

// set puts rules in force and returns those before, nil if there were none.
func (g *rulesGate) set(rules *Rules) (before *inForce) {
	g.setting.Lock()
	defer g.setting.Unlock()
	next := &inForce{Rules: rules, since: time.Now().UTC()}
	before = g.current.Load()
	var seen *peerSightings
	if before != nil {
		seen = before.proxies
		next.lowered = before.lowered.after(before.Rules, rules, time.Now())
		if before.Revision == rules.Revision {
			next.since = before.since
		}
	}
	next.proxies = newPeerSightings(rules.Matcher, seen)
	g.current.Store(next)
	g.confirm()
	g.open()
	return before
}

func (g *rulesGate) confirm() { g.confirmed.Store(time.Now().UnixNano()) }

// isOpen reports whether requests are served, with rules or without.
func (g *rulesGate) isOpen() bool {
	select {
	case <-g.opened:
		return true
	default:
		return false
	}
}

// await returns the rules in force, or nil if none came in time. It gives an
// error if the request ended first.
func (g *rulesGate) await(ctx context.Context) (*inForce, error) {
	if rules := g.current.Load(); rules != nil {
		return rules, nil
	}
	select {
	case <-g.opened:
		return g.current.Load(), nil
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}
