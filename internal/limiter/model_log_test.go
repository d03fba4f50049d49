// Copyright The Penstock Authors.
// SPDX-License-Identifier: Apache-2.0

package limiter

import "slices"

// live are the requests of a log that count now, in order.
func (m *model) live(now int64, check Check) []int64 {
	var live []int64
	for _, at := range m.logs[name(check)] {
		if at = min(at, now); at > now-check.Limit.WindowMicros {
			live = append(live, at)
		}
	}
	slices.Sort(live)
	return live
}

// fewerAfter is how long it takes until no more than so many requests count.
func fewerAfter(live []int64, most, now int64, check Check) int64 {
	excess := int64(len(live)) - most
	if excess <= 0 {
		return 0
	}
	return live[excess-1] + check.Limit.WindowMicros - now
}

func (m *model) lookLog(now int64, check Check) modelState {
	live, requests := m.live(now, check), check.Limit.Requests
	count := int64(len(live))
	state := modelState{Limit: check.Limit.Name, Remaining: max(0, requests-count), Never: check.Cost > requests}
	state.Allowed = count+check.Cost <= requests
	if !state.Allowed && !state.Never {
		state.RetryAfter = fewerAfter(live, requests-check.Cost, now, check)
	}
	if count > 0 {
		state.Reset = fewerAfter(live, 0, now, check)
		state.Next = fewerAfter(live, requests-state.Remaining-1, now, check)
	}
	return state
}

func (m *model) chargeLog(now int64, check Check) {
	live := m.live(now, check)
	for range check.Cost {
		live = append(live, now)
	}
	m.logs[name(check)] = live
}
