// Copyright The Penstock Authors.
// SPDX-License-Identifier: Apache-2.0

package limiter

import (
	"math/big"

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
}

type modelWindow struct{ number, count int64 }

func newModel() *model {
	return &model{buckets: map[string]*big.Rat{}, windows: map[string]modelWindow{}, counters: map[string]modelCounter{}, logs: map[string][]int64{}}
}

// modelState is what the model says about one limit, in whole microseconds.
type modelState struct {
	Limit                   string
	Allowed, Never          bool
	Remaining               int64
	Reset, Next, RetryAfter int64
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

// decide returns the verdict and the states in the order of the checks.
func (m *model) decide(now int64, checks []Check) (bool, []modelState) {
	allowed := true
	for _, check := range checks {
		allowed = allowed && m.look(now, check).Allowed
	}
	states := make([]modelState, 0, len(checks))
	for _, check := range checks {
		before := m.look(now, check)
		if allowed {
			m.charge(now, check)
		}
		state := m.look(now, check)
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
	default:
		return m.lookBucket(now, check)
	}
}

// debt is the time until the bucket is full, and perRequest what one token takes.
func (m *model) debt(now int64, check Check) (debt, perRequest *big.Rat) {
	perRequest = big.NewRat(check.Limit.WindowMicros, check.Limit.Requests)
	debt = rat(0)
	if full, known := m.buckets[name(check)]; known {
		debt = new(big.Rat).Sub(full, rat(now))
	}
	most := new(big.Rat).Mul(perRequest, rat(check.Limit.Burst))
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
	state := modelState{Limit: check.Limit.Name, Remaining: floor(tokens), Reset: ceil(debt)}
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

func (m *model) count(now int64, check Check) (current, count int64) {
	if wanted := check.Limit.Calendar; wanted != nil {
		current = modelPeriod(now, *wanted)
	} else {
		current = now / check.Limit.WindowMicros
	}
	if stored := m.windows[name(check)]; stored.number >= current {
		count = min(stored.count, check.Limit.Requests)
	}
	return current, count
}

func (m *model) lookWindow(now int64, check Check) modelState {
	current, count := m.count(now, check)
	left := (current+1)*check.Limit.WindowMicros - now
	if wanted := check.Limit.Calendar; wanted != nil {
		left = modelPeriodEnd(now, *wanted) - now
	}
	state := modelState{Limit: check.Limit.Name, Remaining: check.Limit.Requests - count}
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

func (m *model) charge(now int64, check Check) {
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
	default:
		debt, perRequest := m.debt(now, check)
		full := new(big.Rat).Mul(perRequest, rat(check.Cost))
		m.buckets[name(check)] = full.Add(full, debt).Add(full, rat(now))
	}
}
