// Copyright The Penstock Authors.
// SPDX-License-Identifier: Apache-2.0

package match

import (
	"iter"
	"slices"

	"github.com/penstock-dev/penstock/internal/ruleset"
)

// peerAskers are what asks for the client's address where that is the peer's: behind a
// proxy, all of its clients are one to them.
type peerAskers struct {
	// policies have such an exemption, or such a rule.
	policies []*ruleset.Policy
	// exempting are those that have such an exemption.
	exempting map[*ruleset.Policy]bool
	rules     map[*ruleset.Rule]bool
}

func (a *peerAskers) add(policy *policyMatcher) {
	if policy.client.setting.Header != "" {
		return
	}
	asks := policy.exempt.asksForClients()
	if asks {
		if a.exempting == nil {
			a.exempting = make(map[*ruleset.Policy]bool)
		}
		a.exempting[policy.policy] = true
	}
	for i := range policy.rules {
		if rule := &policy.rules[i]; rule.asksForClients() {
			if a.rules == nil {
				a.rules = make(map[*ruleset.Rule]bool)
			}
			a.rules[rule.rule], asks = true, true
		}
	}
	if asks {
		a.policies = append(a.policies, policy.policy)
	}
}

func (e *exemptions) asksForClients() bool {
	return e != nil && (e.addresses.Size() > 0 || slices.ContainsFunc(e.when, func(program writtenProgram) bool { return program.LooksAtClients() }))
}

// asksForClients reports whether the rule counts by the client's address, or asks for it
// in an expression.
func (r *ruleMatcher) asksForClients() bool {
	return r.expressions.looksAtClients || slices.ContainsFunc(r.rule.Key, func(part ruleset.KeyPart) bool {
		return slices.ContainsFunc(part.From, func(source ruleset.KeySource) bool { return source.Kind == ruleset.SourceClientIP })
	})
}

// PeerAskers are the policies that count or exempt by the client's address, and take the
// peer for the client. A policy that counts each target apart may come several times.
func (m *Matcher) PeerAskers() []*ruleset.Policy { return m.byPeer.policies }

// PeerAskersOf are those of PeerAskers that ask so of the request that a result is about:
// it met a rule that does, or any rule of a policy that exempts so.
func (m *Matcher) PeerAskersOf(result *Result) iter.Seq[*ruleset.Policy] {
	return func(yield func(*ruleset.Policy) bool) {
		for i := range result.Hits {
			policy, rule := result.Hits[i].Policy, result.Hits[i].Rule
			if (m.byPeer.rules[rule] || m.byPeer.exempting[policy]) && !yield(policy) {
				return
			}
		}
		for _, policy := range result.Exempt {
			if m.byPeer.exempting[policy] && !yield(policy) {
				return
			}
		}
	}
}
