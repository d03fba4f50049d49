// Copyright The Penstock Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"maps"
	"strings"
	"sync"

	"github.com/penstock-dev/penstock/internal/jwks"
	"github.com/penstock-dev/penstock/internal/match"
	"github.com/penstock-dev/penstock/internal/proxy"
	"github.com/penstock-dev/penstock/internal/store"
)

// enforcement puts rule sets in force for a pod's labels, and again when these
// change.
type enforcement struct {
	setRules func(*proxy.Rules)
	// keys are those of issuers of tokens.
	keys *jwks.Cache

	mu      sync.Mutex
	labels  map[string]string
	inForce store.Update // RuleSet is nil before the first
	matcher *match.Matcher
}

// apply has the proxy run an update before it returns. With an error the former
// one stays in force.
func (e *enforcement) apply(update store.Update) error {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.enforce(update, e.labels)
}

// relabel has the proxy run the rules that select a pod with these labels.
func (e *enforcement) relabel(labels map[string]string) error {
	e.mu.Lock()
	defer e.mu.Unlock()
	if maps.Equal(labels, e.labels) {
		return nil
	}
	if e.inForce.RuleSet == nil {
		e.labels = labels
		return nil
	}
	return e.enforce(e.inForce, labels)
}

func (e *enforcement) enforce(update store.Update, labels map[string]string) error {
	matcher, err := match.Compile(update.RuleSet, labels, match.Options{Keys: e.keys, Before: e.matcher})
	if err != nil {
		return err
	}
	e.setRules(&proxy.Rules{
		Matcher: matcher, Namespace: update.RuleSet.Namespace,
		Revision: update.Revision, Sequence: update.Sequence, LivePods: livePods(update.LivePods),
	})
	// Only now: the rules before may have had issuers that these have not.
	e.keys.Follow(matcher.KeyAddresses())
	e.labels, e.inForce, e.matcher = labels, update, matcher
	return nil
}

// livePods takes counts by store.PolicyKey apart.
func livePods(byKey map[string]int64) map[proxy.PolicyID]int64 {
	byPolicy := make(map[proxy.PolicyID]int64, len(byKey))
	for key, pods := range byKey {
		kind, name, _ := strings.Cut(key, "/")
		byPolicy[proxy.PolicyID{Kind: kind, Name: name}] = pods
	}
	return byPolicy
}
