// Copyright The Penstock Authors.
// SPDX-License-Identifier: Apache-2.0

package limiter

import (
	"testing"
	"time"
)

// TestAGiveBackReturnsWhatStillCounts charges three requests twice, gives the first
// three back, and looks at what remains of nine.
func TestAGiveBackReturnsWhatStillCounts(t *testing.T) {
	t.Parallel()
	const second = int64(time.Second / time.Microsecond)
	tests := map[string]struct {
		check Check
		// Between the charges, and from the second to the giving back.
		between, after int64
		want           int64
	}{
		"bucket, at once":             {check: tokenBucketOf("a", 1, 9, time.Second), want: 6},
		"bucket, a third worn off":    {check: tokenBucketOf("b", 1, 9, time.Second), after: second, want: 6},
		"bucket, all worn off":        {check: tokenBucketOf("c", 1, 9, time.Second), between: 3 * second, want: 6},
		"window, the same":            {check: fixedWindowOf("a", 9, time.Second), between: second / 2, want: 6},
		"window, the next":            {check: fixedWindowOf("b", 9, time.Second), between: second, want: 6},
		"window, over":                {check: fixedWindowOf("c", 9, time.Second), after: second, want: 9},
		"counter, the same":           {check: slidingWindowCounterOf("a", 9, time.Second), between: second / 2, want: 6},
		"counter, the next":           {check: slidingWindowCounterOf("b", 9, time.Second), between: second, want: 6},
		"counter, the one after":      {check: slidingWindowCounterOf("c", 9, time.Second), between: 2 * second, want: 6},
		"log, both count":             {check: slidingWindowLogOf("a", 9, time.Second), between: second / 2, want: 6},
		"log, the first worn off":     {check: slidingWindowLogOf("b", 9, time.Second), between: second, want: 6},
		"log, as the first wears off": {check: slidingWindowLogOf("c", 9, time.Second), between: second / 2, after: second / 2, want: 6},
		"queue, not the last":         {check: leakyBucketOf("a", 1, 9, time.Second), want: 3},
		"places, of one of two":       {check: concurrencyOf("a", 9), want: 6},
		"places, whose lease is over": {check: concurrencyOf("b", 9), between: 40 * second, want: 6},
	}
	for store, limiter := range clockedLimiters(t) {
		for name, tc := range tests {
			t.Run(store+"/"+name, func(t *testing.T) {
				check := costing(tc.check, 3)
				check.Correctable = true
				now := present - present%(4*second)
				limiter.set(t, now)
				first := decide(t, limiter, check).Receipt
				limiter.set(t, now+tc.between)
				second := decide(t, limiter, check).Receipt
				second.abandon()
				limiter.set(t, now+tc.between+tc.after)
				first.book = limiter.book()
				first.Cancel()
				if got := decide(t, limiter, costing(check, 0)).Limits[0].Remaining; got != tc.want {
					t.Errorf("%d remain, want %d", got, tc.want)
				}
			})
		}
	}
}

// TestLateChargesEndOneCapacityBelowEmpty charges a hundred twice to limits of nine.
func TestLateChargesEndOneCapacityBelowEmpty(t *testing.T) {
	t.Parallel()
	for store, limiter := range clockedLimiters(t) {
		for name, tc := range map[string]struct {
			check Check
			// wait is until a request is admitted.
			wait time.Duration
		}{
			"bucket":  {check: tokenBucketOf("a", 1, 9, time.Second), wait: 10 * time.Second},
			"counter": {check: slidingWindowCounterOf("a", 9, 9*time.Second), wait: 14 * time.Second},
			"log":     {check: slidingWindowLogOf("a", 9, time.Second), wait: time.Second},
			"window":  {check: fixedWindowOf("a", 9, time.Second), wait: time.Second},
		} {
			tc.check.Correctable = true
			now := present - present%9_000_000
			limiter.set(t, now)
			receipts := []*Receipt{decide(t, limiter, tc.check).Receipt, decide(t, limiter, tc.check).Receipt}
			for _, receipt := range receipts {
				receipt.book = limiter.book()
				receipt.Settle(func(*Check) int64 { return 100 })
			}
			if got := decide(t, limiter, tc.check); got.Allowed || got.RetryAfter != tc.wait {
				t.Errorf("%s, %s: %+v, want refused for %v", store, name, got, tc.wait)
			}
			limiter.set(t, now+tc.wait.Microseconds())
			if got := decide(t, limiter, tc.check); !got.Allowed {
				t.Errorf("%s, %s: after %v: %+v, want admitted", store, name, tc.wait, got)
			}
		}
	}
}
