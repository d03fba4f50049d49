// Copyright The Penstock Authors.
// SPDX-License-Identifier: Apache-2.0

package limiter

import (
	"cmp"
	"slices"
)

// ranked is a limit's state with what its rank depends on besides.
type ranked struct {
	state LimitState
	// further is how many more requests of this cost the limit would admit.
	further int64
}

// decisionOf puts what the limits say into one decision. The request is admitted
// when every limit admits it, and only then were costs charged.
func decisionOf(checks []Check, plans []plan, stands []standing, source Source) Decision {
	allowed := allAdmit(plans, stands)
	// Most requests meet few limits: these need no memory from the heap.
	var few [4]ranked
	found := few[:0]
	if len(checks) > len(few) {
		found = make([]ranked, 0, len(checks))
	}
	found, delay := appendRanked(found, checks, plans, stands, source, allowed)
	decision := decisionFrom(allowed, found, source)
	decision.Delay = micros(delay)
	return decision
}

// appendRanked appends how the limits stand, and returns for how many microseconds they
// hold the request back. The limits that admit were charged, or none was.
func appendRanked(found []ranked, checks []Check, plans []plan, stands []standing, source Source, charged bool) ([]ranked, int64) {
	delay := int64(0)
	for i := range checks {
		state := stateOf(&checks[i], source)
		made, advance := plans[i], stands[i].advance
		if advance > 0 {
			// What was charged in advance remains, but wears off like any charge.
			made = made.costing(checks[i].Cost + advance)
		}
		told := made.report(stands[i], charged && stands[i].admits)
		told.remaining += advance
		state.Allowed, state.Never, state.Remaining = stands[i].admits, told.never, told.remaining
		state.ResetAfter, state.NextAfter, state.RetryAfter = micros(told.resetAfter), micros(told.nextAfter), micros(told.retryAfter)
		if !state.Shadow {
			delay = max(delay, told.delay)
		}
		found = append(found, rankedAs(state, &checks[i]))
	}
	return found, delay
}

func rankedAs(state LimitState, check *Check) ranked {
	return ranked{state: state, further: state.Remaining / max(check.Cost, 1)}
}

// decisionFrom orders the limits' states.
func decisionFrom(allowed bool, found []ranked, source Source) Decision {
	slices.SortStableFunc(found, speaksBefore)
	decision := Decision{Allowed: allowed, Source: source, Limits: make([]LimitState, len(found))}
	for i := range found {
		decision.Limits[i] = found[i].state
	}
	if !allowed {
		decision.RetryAfter, decision.Never = found[0].state.RetryAfter, found[0].state.Never
	}
	return decision
}

// allAdmit says whether all limits admit a request that are no shadows.
func allAdmit(plans []plan, stands []standing) bool {
	for i := range stands {
		if !stands[i].admits && !plans[i].has(shadowed) {
			return false
		}
	}
	return true
}

// stateOf is a limit's state as far as nobody needs to count.
func stateOf(check *Check, source Source) LimitState {
	state := LimitState{Kind: check.Kind, Policy: check.Policy, Rule: check.Rule, Identity: check.Identity, Shadow: check.Shadow, Drawn: check.Drawn, Source: source}
	if limit := check.Limit; limit != nil {
		state.Limit, state.Requests, state.Burst = limit.Name, limit.Requests, limit.Burst
		state.Window, state.Calendar = micros(limit.WindowMicros), limit.Calendar
	}
	return state
}

// isOf says whether a state is that of a check.
func (s *LimitState) isOf(check *Check) bool {
	return s.Kind == check.Kind && s.Policy == check.Policy && s.Rule == check.Rule && s.Limit == check.Limit.Name && s.Identity == check.Identity
}

// speaksBefore orders limits by how much they tell the client: those that refuse
// first, the longest wait leading, then those with the fewest requests left.
func speaksBefore(a, b ranked) int {
	if order := cmp.Compare(a.state.say(), b.state.say()); order != 0 {
		return order
	}
	if order := refusals(a.state, b.state); order != 0 {
		return order
	}
	if a.state.Allowed {
		if order := cmp.Compare(a.further, b.further); order != 0 {
			return order
		}
	}
	return cmp.Or(
		cmp.Compare(b.state.ResetAfter, a.state.ResetAfter),
		cmp.Compare(a.state.Policy, b.state.Policy),
		cmp.Compare(a.state.Rule, b.state.Rule),
		cmp.Compare(a.state.Limit, b.state.Limit),
		cmp.Compare(a.state.Kind, b.state.Kind),
	)
}

// say is less the more a limit has to say: one that refuses, one that may refuse this or
// the next request, and a shadow.
func (s *LimitState) say() int {
	switch {
	case s.Shadow && !s.Drawn:
		return 2
	case s.Shadow || s.Allowed:
		return 1
	default:
		return 0
	}
}

func refusals(a, b LimitState) int {
	return cmp.Or(
		first(!a.Allowed, !b.Allowed),
		first(a.Never, b.Never),
		cmp.Compare(b.RetryAfter, a.RetryAfter),
	)
}

// first puts what is so before what is not.
func first(a, b bool) int {
	switch {
	case a == b:
		return 0
	case a:
		return -1
	default:
		return 1
	}
}
