// Copyright The Penstock Authors.
// SPDX-License-Identifier: Apache-2.0

package limiter

import (
	"context"
	"slices"
)

// PodScope counts the limits in memory that each pod has for itself, and has the others
// decided as ever.
type PodScope struct {
	next   Decider
	memory *Memory
}

var _ Decider = (*PodScope)(nil)

// WithPodScope returns a limiter that has next decide on all checks but those that are
// PodScoped, which memory counts. A request that meets no others never asks next, so
// its failures are none of theirs.
func WithPodScope(next Decider, memory *Memory) *PodScope {
	return &PodScope{next: next, memory: memory}
}

// Decide decides on a request as a whole. What memory refuses, next is not asked about;
// what memory admitted is given back if next refuses it, or does not decide. Its errors
// are those of next, and about limits out of range.
func (p *PodScope) Decide(ctx context.Context, namespace string, checks []Check) (Decision, error) {
	scoped := func(c Check) bool { return c.PodScoped }
	if !slices.ContainsFunc(checks, scoped) {
		return p.next.Decide(ctx, namespace, checks)
	}
	var own, others []Check
	for _, check := range distinct(checks) {
		if check.PodScoped {
			own = append(own, check)
		} else {
			others = append(others, check)
		}
	}
	plans, err := plansFor(own, p.memory.now)
	if err != nil {
		return Decision{}, err
	}
	stands := make([]standing, len(own))
	charged := p.memory.charge(namespace, own, plans, stands)
	if len(others) == 0 || !allAdmit(plans, stands) {
		decision := decisionOf(own, plans, stands, Store)
		decision.Receipt = receiptFor(p.memory, namespace, own, plans, stands, charged)
		return decision, nil
	}
	rest, err := p.next.Decide(ctx, namespace, others)
	if err != nil || !rest.Allowed {
		p.memory.correct(namespace, chargesOf(own, plans, stands, charged))
	}
	if err != nil {
		return Decision{}, err
	}
	found, delay := appendRanked(nil, own, plans, stands, Store, rest.Allowed)
	whole := joinedBy(rest, found, others)
	if rest.Allowed {
		whole.Delay = max(rest.Delay, micros(delay))
		whole.Receipt = receiptFor(p.memory, namespace, own, plans, stands, charged).with(rest.Receipt)
	}
	return whole, nil
}

// chargesOf are corrections that give back what was charged at a time.
func chargesOf(checks []Check, plans []plan, stands []standing, charged int64) []correction {
	var corrections []correction
	for i := range checks {
		if stands[i].admits && !plans[i].free() {
			corrections = append(corrections, correction{
				kind: giveBack, identity: checks[i].Identity, limit: checks[i].Limit.Key,
				plan: plans[i], charged: charged, stand: stands[i],
			})
		}
	}
	return corrections
}

// joinedBy is a decision on checks to which limits are added that have the same say.
// Limits that nobody counted come last: they tell nothing.
func joinedBy(decision Decision, found []ranked, checks []Check) Decision {
	var uncounted []LimitState
	for _, state := range decision.Limits {
		at := slices.IndexFunc(checks, func(c Check) bool { return state.isOf(&c) })
		if at < 0 || state.Source == StoreAllowed || state.Source == StoreDenied {
			uncounted = append(uncounted, state)
			continue
		}
		found = append(found, rankedAs(state, &checks[at]))
	}
	whole := decisionFrom(decision.Allowed, found, decision.Source)
	whole.Limits = append(whole.Limits, uncounted...)
	whole.RetryAfter, whole.Never = decision.RetryAfter, decision.Never
	whole.StoreTime = decision.StoreTime
	return whole
}
