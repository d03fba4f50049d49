// Copyright The Penstock Authors.
// SPDX-License-Identifier: Apache-2.0

package model

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/penstock-dev/penstock/internal/ruleset"
)

// TestModelByHand compares the model with what a person works out: each limit allows
// 4 per 1000 µs, and asks at times after a window began.
func TestModelByHand(t *testing.T) {
	t.Parallel()
	type step struct {
		at, cost int64
		want     State
	}
	const start = 1_900_000_000_000_000
	tests := map[ruleset.Algorithm][]step{
		// A token takes 250 µs.
		ruleset.TokenBucket: {
			{0, 3, State{Allowed: true, Remaining: 1, Reset: 750, Next: 250}},
			{100, 2, State{Remaining: 1, Reset: 650, Next: 150, RetryAfter: 150}},
			{250, 2, State{Allowed: true, Remaining: 0, Reset: 1000, Next: 250}},
			{251, 5, State{Never: true, Remaining: 0, Reset: 999, Next: 249}},
		},
		ruleset.LeakyBucket: {
			{0, 3, State{Allowed: true, Remaining: 1, Reset: 750, Next: 250}},
			{250, 1, State{Allowed: true, Remaining: 1, Reset: 750, Next: 250, Delay: 500}},
			{250, 0, State{Allowed: true, Remaining: 1, Reset: 750, Next: 250}},
		},
		ruleset.FixedWindow: {
			{900, 4, State{Allowed: true, Remaining: 0, Reset: 100, Next: 100}},
			{999, 1, State{Remaining: 0, Reset: 1, Next: 1, RetryAfter: 1}},
			{1000, 1, State{Allowed: true, Remaining: 3, Reset: 1000, Next: 1000}},
		},
		// A quarter into the next window, 3 of the 4 before still count.
		ruleset.SlidingWindowCounter: {
			{900, 4, State{Allowed: true, Remaining: 0, Reset: 1100, Next: 350}},
			{1249, 1, State{Remaining: 0, Reset: 751, Next: 1, RetryAfter: 1}},
			{1250, 1, State{Allowed: true, Remaining: 0, Reset: 1750, Next: 250}},
		},
		ruleset.SlidingWindowLog: {
			{500, 1, State{Allowed: true, Remaining: 3, Reset: 1000, Next: 1000}},
			{900, 3, State{Allowed: true, Remaining: 0, Reset: 1000, Next: 600}},
			{1499, 2, State{Remaining: 0, Reset: 401, Next: 1, RetryAfter: 401}},
			{1500, 1, State{Allowed: true, Remaining: 0, Reset: 1000, Next: 400}},
		},
		ruleset.Concurrency: {
			{0, 3, State{Allowed: true, Remaining: 1, Reset: 1_000_000, Next: 1_000_000}},
			{1, 2, State{Remaining: 1, Reset: 1_000_000, Next: 1_000_000, RetryAfter: 1_000_000}},
			{LeaseMicros - 1, 1, State{Allowed: true, Remaining: 0, Reset: 1_000_000, Next: 1_000_000}},
			{LeaseMicros, 3, State{Allowed: true, Remaining: 0, Reset: 1_000_000, Next: 1_000_000}},
		},
	}
	for algorithm, steps := range tests {
		t.Run(string(algorithm), func(t *testing.T) {
			t.Parallel()
			limit := ruleset.Limit{Algorithm: algorithm, Requests: 4, Burst: 4, WindowMicros: 1000}
			reference := New()
			for i, step := range steps {
				allowed, states := reference.Decide(start+step.at, []Check{{Limit: &limit, Cost: step.cost}})
				if diff := cmp.Diff(step.want, states[0]); diff != "" || allowed != step.want.Allowed {
					t.Errorf("step %d: allowed %t (-want +got):\n%s", i+1, allowed, diff)
				}
			}
		})
	}
}

func TestUnboundedTellsHowMuchTooMuch(t *testing.T) {
	t.Parallel()
	for _, algorithm := range []ruleset.Algorithm{
		ruleset.TokenBucket, ruleset.LeakyBucket, ruleset.FixedWindow, ruleset.SlidingWindowCounter, ruleset.SlidingWindowLog, ruleset.Concurrency,
	} {
		check := Check{Limit: &ruleset.Limit{Algorithm: algorithm, Requests: 4, Burst: 4, WindowMicros: 1_000_000}, Cost: 7}
		reference := NewUnbounded()
		for range 2 {
			reference.Charge(2_000_000, check)
		}
		if excess := reference.Excess(2_000_000, check); excess.Cmp(rat(10)) != 0 {
			t.Errorf("%s: 14 of 4 are %s too many, want 10", algorithm, excess)
		}
	}
}
