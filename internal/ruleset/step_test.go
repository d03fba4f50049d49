// Copyright The Penstock Authors.
// SPDX-License-Identifier: Apache-2.0

package ruleset

import (
	"testing"
	"time"
)

func TestStepsAreTheLeastThatMultiplyExactly(t *testing.T) {
	t.Parallel()
	day := 24 * time.Hour
	tests := map[string]struct {
		requests int64
		window   time.Duration
		want     int64
	}{
		"a common limit":           {requests: 1000, window: time.Hour, want: 1},
		"the most that is exact":   {requests: 104_248, window: day, want: 1},
		"one more than is exact":   {requests: 104_249, window: day, want: 2},
		"a million in a day":       {requests: 1_000_000, window: day, want: 10},
		"the largest there may be": {requests: 1 << 31, window: 400 * day, want: 8_239_749},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got := StepMicros(tc.requests, tc.window.Microseconds())
			if got != tc.want {
				t.Errorf("steps of %d µs, want %d", got, tc.want)
			}
			products := func(step int64) int64 {
				return (tc.requests + 1) * ((tc.window.Microseconds() + step - 1) / step)
			}
			if products(got) > 1<<53 || got > 1 && products(got-1) <= 1<<53 {
				t.Errorf("steps of %d µs make products of %d, want the least step with at most 2^53", got, products(got))
			}
		})
	}
}
