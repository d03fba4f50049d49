// Copyright The Penstock Authors.
// SPDX-License-Identifier: Apache-2.0

package faults

import (
	"github.com/penstock-dev/penstock/internal/ruleset"
)

// callersOfASidecar may find no connection at the moment when the breaker opens.
const callersOfASidecar = 64

// expects is what a sidecar may do in a fault during which the breaker opened so
// often.
func (s *scene) expects(l *lane, openings int64) expected {
	if s.fault.outcome == unharmed {
		return expected{}
	}
	want := expected{
		calls: atMost(mostCalls * openings), waited: atMost(mostWaiting * openings),
		errors: atMost((mostWaiting + callersOfASidecar) * openings),
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
