// Copyright The Penstock Authors.
// SPDX-License-Identifier: Apache-2.0

package faults

import (
	"github.com/penstock-dev/penstock/internal/ruleset"
)

const (
	// callersOfASidecar may find no connection at the moment when the breaker opens.
	callersOfASidecar = 64
	// checksOfACall is how many requests may share a call.
	checksOfACall = 64
)

// expects is what a sidecar may do in a fault during which the breaker opened so
// often.
func (s *scene) expects(l *lane, openings int64) expected {
	if s.fault.outcome == unharmed {
		return expected{}
	}
	if s.fault.outcome == shaken {
		// And until it would have opened once more.
		openings++
	}
	openings = max(1, openings)
	want := expected{
		calls: atMost(mostCalls * openings), waited: atMost(mostWaiting * openings),
		// Whoever is undecided has waited, has found no connection, or was in a call
		// that failed at once.
		errors: atMost((mostWaiting+callersOfASidecar)*openings + checksOfACall*(s.failedCalls(l)-l.failed)),
	}
	// What is decided alone, if the fault leaves no choice.
	var least, shares int64
	for _, c := range counters() {
		if s.suffering[c.name] {
			least, shares = least+c.share(), shares+c.share()
		}
	}
	if s.fault.outcome == shaken {
		least = 0
	}
	switch l.mode {
	case ruleset.FailAllow:
		want.admitted, want.refused = bounds{least, endless}, exactly(0)
	case ruleset.FailDeny:
		want.admitted, want.refused = exactly(0), bounds{least, endless}
	case ruleset.FailLocal:
		want.admitted, want.refused = bounds{least, shares}, bounds{min(least, 1), endless}
	}
	return want
}
