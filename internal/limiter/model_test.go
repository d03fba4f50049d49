// Copyright The Penstock Authors.
// SPDX-License-Identifier: Apache-2.0

package limiter

import (
	"math/big"
	"slices"

	"github.com/penstock-dev/penstock/internal/ruleset"
)

// model is the reference: the algorithms as docs and policies describe them, in
// exact fractions, and written apart from the product's arithmetic.
type model struct {
	buckets map[string]*big.Rat // tokens are counted back from the time when full, in microseconds
	windows map[string]modelWindow
	// counters are those of SlidingWindowCounter.
	counters map[string]modelCounter
	// logs are when requests came.
	logs map[string][]int64
	// places are those who hold one of a Concurrency limit, and until when.
	places map[string]map[string]modelPlaces
}

type modelWindow struct{ number, count int64 }

func newModel() *model {
	return &model{buckets: map[string]*big.Rat{}, windows: map[string]modelWindow{}, counters: map[string]modelCounter{}, logs: map[string][]int64{}, places: map[string]map[string]modelPlaces{}}
}

// modelState is what the model says about one limit, in whole microseconds.
type modelState struct {
	Limit                   string
	Allowed, Never          bool
	Remaining               int64
	Reset, Next, RetryAfter int64
	// Delay is for an admitted request of a LeakyBucket. It is not compared by limit.
	Delay int64
}

func rat(n int64) *big.Rat { return new(big.Rat).SetInt64(n) }

// ceil is the least whole number that is not below r.
func ceil(r *big.Rat) int64 {
	whole, rest := new(big.Int).DivMod(r.Num(), r.Denom(), new(big.Int))
	if rest.Sign() > 0 {
		whole.Add(whole, big.NewInt(1))
	}
	return whole.Int64()
}

func floor(r *big.Rat) int64 { return new(big.Int).Div(r.Num(), r.Denom()).Int64() }

func name(check Check) string { return check.Identity + check.Limit.Key }

// decide returns the verdict and the states in the order of the checks. The request
// holds places under the given name.
func (m *model) decide(now int64, holder string, checks []Check) (bool, []modelState) {
	allowed := true
	for _, check := range checks {
		allowed = allowed && (check.Shadow || m.look(now, check).Allowed)
	}
	states := make([]modelState, 0, len(checks))
	for _, check := range checks {
		before := m.look(now, check)
		if allowed && before.Allowed && check.Cost > 0 {
			m.charge(now, holder, check)
		} else {
			m.bringBack(now, check, before)
		}
		state := m.look(now, check)
		if allowed && before.Allowed && check.Cost > 0 && check.Limit.Algorithm == ruleset.LeakyBucket {
			state.Delay = before.Reset
		}
		state.Allowed, state.Never, state.RetryAfter = before.Allowed, before.Never, before.RetryAfter
		states = append(states, state)
	}
	return allowed, states
}

func (m *model) look(now int64, check Check) modelState {
	switch check.Limit.Algorithm {
	case ruleset.FixedWindow:
		return m.lookWindow(now, check)
	case ruleset.SlidingWindowCounter:
		return m.lookCounter(now, check)
	case ruleset.SlidingWindowLog:
		return m.lookLog(now, check)
	case ruleset.Concurrency:
		return m.lookPlaces(now, check)
	default:
		return m.lookBucket(now, check)
	}
}

// most is how many requests a limit may have been charged for.
func most(requests int64, check Check) int64 {
	if check.Correctable {
		return 2 * requests
	}
	return requests
}

// debt is the time until the bucket is full, and perRequest what one token takes.
func (m *model) debt(now int64, check Check) (debt, perRequest *big.Rat) {
	perRequest = big.NewRat(check.Limit.WindowMicros, check.Limit.Requests)
	debt = rat(0)
	if full, known := m.buckets[name(check)]; known {
		debt = new(big.Rat).Sub(full, rat(now))
	}
	most := new(big.Rat).Mul(perRequest, rat(most(check.Limit.Burst, check)))
	switch {
	case debt.Sign() < 0:
		debt = rat(0)
	case debt.Cmp(most) > 0:
		debt = most
	}
	return debt, perRequest
}

func (m *model) lookBucket(now int64, check Check) modelState {
	debt, perRequest := m.debt(now, check)
	tokens := new(big.Rat).Sub(rat(check.Limit.Burst), new(big.Rat).Quo(debt, perRequest))
	cost := rat(check.Cost)
	state := modelState{Limit: check.Limit.Name, Remaining: max(0, floor(tokens)), Reset: ceil(debt)}
	state.Allowed = tokens.Cmp(cost) >= 0
	state.Never = check.Cost > check.Limit.Burst
	if !state.Allowed && !state.Never {
		lacking := new(big.Rat).Sub(cost, tokens)
		state.RetryAfter = ceil(lacking.Mul(lacking, perRequest))
	}
	if debt.Sign() > 0 {
		growing := new(big.Rat).Sub(rat(state.Remaining+1), tokens)
		state.Next = ceil(growing.Mul(growing, perRequest))
	}
	return state
}

// windowOf is the number of the window that a time is in.
func (m *model) windowOf(at int64, check Check) int64 {
	if wanted := check.Limit.Calendar; wanted != nil {
		return modelPeriod(at, *wanted)
	}
	return at / check.Limit.WindowMicros
}

func (m *model) count(now int64, check Check) (current, count int64) {
	current = m.windowOf(now, check)
	if stored := m.windows[name(check)]; stored.number >= current {
		count = min(stored.count, most(check.Limit.Requests, check))
	}
	return current, count
}

func (m *model) lookWindow(now int64, check Check) modelState {
	current, count := m.count(now, check)
	left := (current+1)*check.Limit.WindowMicros - now
	if wanted := check.Limit.Calendar; wanted != nil {
		left = modelPeriodEnd(now, *wanted) - now
	}
	state := modelState{Limit: check.Limit.Name, Remaining: max(0, check.Limit.Requests-count)}
	state.Allowed = count+check.Cost <= check.Limit.Requests
	state.Never = check.Cost > check.Limit.Requests
	if !state.Allowed && !state.Never {
		state.RetryAfter = left
	}
	if count > 0 {
		state.Reset, state.Next = left, left
	}
	return state
}

// bringBack forgets what a clock left that stepped back.
func (m *model) bringBack(now int64, check Check, before modelState) {
	switch check.Limit.Algorithm {
	case ruleset.FixedWindow:
		if current, count := m.count(now, check); m.windows[name(check)].number > current {
			m.windows[name(check)] = modelWindow{number: current, count: count}
		}
	case ruleset.SlidingWindowCounter:
		if counter := m.counter(now, check); m.counters[name(check)].number > counter.number {
			m.counters[name(check)] = counter
		}
	case ruleset.SlidingWindowLog:
		if log := m.logs[name(check)]; len(log) > 0 && slices.Max(log) > now {
			m.logs[name(check)] = m.live(now, check)
		}
	case ruleset.Concurrency:
		if !before.Allowed {
			m.shortenPlaces(now, check)
		}
	default:
		full, known := m.buckets[name(check)]
		if debt, _ := m.debt(now, check); known && check.Settled && new(big.Rat).Sub(full, rat(now)).Cmp(debt) > 0 {
			m.buckets[name(check)] = debt.Add(debt, rat(now))
		}
	}
}

func (m *model) charge(now int64, holder string, check Check) {
	if check.Cost == 0 {
		return
	}
	switch check.Limit.Algorithm {
	case ruleset.FixedWindow:
		current, count := m.count(now, check)
		m.windows[name(check)] = modelWindow{number: current, count: count + check.Cost}
	case ruleset.SlidingWindowCounter:
		m.chargeCounter(now, check)
	case ruleset.SlidingWindowLog:
		m.chargeLog(now, check)
	case ruleset.Concurrency:
		m.takePlaces(now, holder, check)
	default:
		debt, perRequest := m.debt(now, check)
		full := new(big.Rat).Mul(perRequest, rat(check.Cost))
		m.buckets[name(check)] = full.Add(full, debt).Add(full, rat(now))
	}
}
