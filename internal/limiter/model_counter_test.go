// Copyright The Penstock Authors.
// SPDX-License-Identifier: Apache-2.0

package limiter

import "math/big"

// modelCounter is what the model keeps of a SlidingWindowCounter: a window and the
// requests of the one before it and of its own.
type modelCounter struct{ number, before, count int64 }

// counter is the state as seen now.
func (m *model) counter(now int64, check Check) modelCounter {
	current := now / check.Limit.WindowMicros
	stored, known := m.counters[name(check)]
	switch {
	case !known || stored.number < current-1:
		return modelCounter{number: current}
	case stored.number == current-1:
		return modelCounter{number: current, before: min(stored.count, most(check.Limit.Requests, check))}
	default:
		return modelCounter{number: current, before: min(stored.before, most(check.Limit.Requests, check)), count: min(stored.count, most(check.Limit.Requests, check))}
	}
}

// used is the weighed sum at a time at or after the state's window began, if
// nothing comes until then.
func (c modelCounter) used(at int64, check Check) *big.Rat {
	window := check.Limit.WindowMicros
	before, count := c.before, c.count
	switch at/window - c.number {
	case 0:
	case 1:
		before, count = count, 0
	default:
		return rat(0)
	}
	share := big.NewRat(window-at%window, window)
	return share.Mul(share, rat(before)).Add(share, rat(count))
}

// admittedAfter is how long it takes until a cost would be admitted: the sum only
// falls.
func (c modelCounter) admittedAfter(now, cost int64, check Check) int64 {
	free := rat(check.Limit.Requests - cost)
	return firstWhere(now, (c.number+2)*check.Limit.WindowMicros, func(at int64) bool {
		return c.used(at, check).Cmp(free) <= 0
	}) - now
}

// firstWhere is the first number from which on something holds, high if it holds
// nowhere before.
func firstWhere(low, high int64, holds func(int64) bool) int64 {
	for low < high {
		if middle := low + (high-low)/2; holds(middle) {
			high = middle
		} else {
			low = middle + 1
		}
	}
	return low
}

func (m *model) lookCounter(now int64, check Check) modelState {
	counter, requests := m.counter(now, check), check.Limit.Requests
	used := counter.used(now, check)
	state := modelState{Limit: check.Limit.Name, Never: check.Cost > requests}
	state.Allowed = new(big.Rat).Add(used, rat(check.Cost)).Cmp(rat(requests)) <= 0
	state.Remaining = max(0, requests-ceil(used))
	if !state.Allowed && !state.Never {
		state.RetryAfter = counter.admittedAfter(now, check.Cost, check)
	}
	if used.Sign() > 0 {
		state.Reset = counter.admittedAfter(now, requests, check)
		state.Next = counter.admittedAfter(now, state.Remaining+1, check)
	}
	return state
}

func (m *model) chargeCounter(now int64, check Check) {
	counter := m.counter(now, check)
	counter.count += check.Cost
	m.counters[name(check)] = counter
}
