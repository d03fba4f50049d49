// Copyright The Penstock Authors.
// SPDX-License-Identifier: Apache-2.0

package model

import (
	"fmt"
	"math/big"

	"github.com/penstock-dev/penstock/internal/ruleset"
)

// Model is what the limits of all identities have counted. It is not safe for
// concurrent use. Times are in microseconds since the epoch.
type Model struct {
	counts map[string]counting
	bound  bound
	// holders numbers the requests that hold places without a name.
	holders int
}

// New returns a model of unused limits. No limit is ever used by more than its
// capacity, or twice that with late charges: edits and clocks that step back change
// what it can be.
func New() *Model { return &Model{counts: map[string]counting{}} }

// NewUnbounded returns a model that counts whatever is charged, to tell how much too
// much was admitted.
func NewUnbounded() *Model {
	return &Model{counts: map[string]counting{}, bound: bound{none: true}}
}

func (m *Model) of(check Check) counting {
	known, found := m.counts[check.name()]
	if !found {
		known = newCounting(check.Limit.Algorithm, m.bound)
		m.counts[check.name()] = known
	}
	return known
}

// Used is how much of a limit is used at a time.
func (m *Model) Used(now int64, check Check) *big.Rat { return m.of(check).used(now, check) }

// Excess is how much more than a limit's capacity is used; below 0 as much is free.
func (m *Model) Excess(now int64, check Check) *big.Rat {
	return difference(m.Used(now, check), rat(capacity(check)))
}

// Admits says whether a limit alone admits the cost.
func (m *Model) Admits(now int64, check Check) bool {
	return sum(m.Excess(now, check), rat(check.Cost)).Sign() <= 0
}

// Charge charges the cost, whether it is admitted or not.
func (m *Model) Charge(now int64, check Check) {
	if check.Cost == 0 {
		return
	}
	if check.Holder == "" {
		m.holders++
		check.Holder = fmt.Sprint("unnamed ", m.holders)
	}
	m.of(check).charge(now, check)
}

// Look is how a limit stands, and what it says to the cost.
func (m *Model) Look(now int64, check Check) State {
	count, most := m.of(check), capacity(check)
	used := count.used(now, check)
	free := difference(rat(most), used)
	state := State{
		Limit: check.Limit.Name, Allowed: free.Cmp(rat(check.Cost)) >= 0, Never: check.Cost > most,
		Remaining: max(0, floor(free)),
	}
	if !state.Allowed && !state.Never {
		state.RetryAfter = count.fallsTo(now, check, rat(most-check.Cost))
	}
	if used.Sign() > 0 {
		state.Reset = count.fallsTo(now, check, rat(0))
		state.Next = count.fallsTo(now, check, rat(most-state.Remaining-1))
	}
	return state
}

// Decide decides on a request, all or nothing, and returns the states of its limits
// in the order of the checks. A shadow refuses nothing, and is charged only if it
// admits.
func (m *Model) Decide(now int64, checks []Check) (bool, []State) {
	allowed := true
	for _, check := range checks {
		allowed = allowed && (check.Shadow || m.Admits(now, check))
	}
	states := make([]State, 0, len(checks))
	for _, check := range checks {
		before := m.Look(now, check)
		charged := allowed && before.Allowed && check.Cost > 0
		if charged {
			m.Charge(now, check)
		} else {
			m.of(check).bringBack(now, check)
		}
		state := m.Look(now, check)
		if charged && check.Limit.Algorithm == ruleset.LeakyBucket {
			// It goes on when the queue before it has gone.
			state.Delay = before.Reset
		}
		state.Allowed, state.Never, state.RetryAfter = before.Allowed, before.Never, before.RetryAfter
		states = append(states, state)
	}
	return allowed, states
}
