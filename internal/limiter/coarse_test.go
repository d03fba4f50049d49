// Copyright The Penstock Authors.
// SPDX-License-Identifier: Apache-2.0

package limiter

import (
	"fmt"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/penstock-dev/penstock/internal/ruleset"
	"github.com/penstock-dev/penstock/test/model"
)

// TestCoarseCountersNeverAdmitTooMuch drives counters so large that they count
// time in steps: they admit nothing that exact time refuses, admit what it admits
// at most two steps later, and say honestly when.
func TestCoarseCountersNeverAdmitTooMuch(t *testing.T) {
	t.Parallel()
	for store, limiter := range clockedLimiters(t) {
		t.Run(store, func(t *testing.T) {
			trace := 0
			rapid.Check(t, func(r *rapid.T) {
				trace++
				limiter.forget()
				check := drawCoarse(r, fmt.Sprint(store, trace))
				reference, now := model.New(), present
				for range rapid.IntRange(3, 12).Draw(r, "requests") {
					check.Cost = rapid.Int64Range(1, check.Limit.Requests).Draw(r, "cost")
					wait := requireCoarse(t, r, limiter, reference, now, check)
					now += rapid.OneOf(rapid.Just(wait), rapid.Int64Range(0, 2*check.Limit.WindowMicros)).Draw(r, "step")
				}
			})
		})
	}
}

func drawCoarse(r *rapid.T, client string) Check {
	requests := rapid.Int64Range(maxRequests/1000, maxRequests).Draw(r, "requests")
	window := time.Duration(rapid.Int64Range(maxWindowMicros/100, maxWindowMicros).Draw(r, "window")) * time.Microsecond
	check := slidingWindowCounterOf(client, requests, window)
	if ruleset.StepMicros(requests, check.Limit.WindowMicros) < 2 {
		r.Fatalf("%s counts exactly", describe([]Check{check}))
	}
	return check
}

// requireCoarse decides, compares with exact time, and returns RetryAfter.
func requireCoarse(t *testing.T, r *rapid.T, limiter clocked, reference *model.Model, now int64, check Check) int64 {
	t.Helper()
	limiter.set(t, now)
	got := decide(t, limiter, check)
	exact := reference.Look(now, modelOf(check))
	if got.Allowed {
		if !exact.Allowed {
			r.Fatalf("%s at %d is admitted, exact time refuses: %+v", describe([]Check{check}), now, got)
		}
		reference.Charge(now, modelOf(check))
		return 0
	}
	step := ruleset.StepMicros(check.Limit.Requests, check.Limit.WindowMicros)
	if exact.Allowed && reference.AdmitsBehind(now, 2*step, modelOf(check)) {
		r.Fatalf("%s at %d is refused, exact time admitted it two steps of %d µs ago", describe([]Check{check}), now, step)
	}
	if left := got.Limits[0].Remaining; left > exact.Remaining {
		r.Fatalf("%d remain, by exact time %d", left, exact.Remaining)
	}
	retry := got.RetryAfter.Microseconds()
	looked := costing(check, got.Limits[0].Remaining+1)
	limiter.set(t, now+retry-1)
	if early := decide(t, limiter, check); early.Allowed {
		r.Fatalf("%s is admitted a microsecond before RetryAfter %d", describe([]Check{check}), retry)
	}
	limiter.set(t, now)
	if next := decide(t, limiter, looked); next.Allowed || next.RetryAfter != got.Limits[0].NextAfter {
		r.Fatalf("one more than remains: %+v, want refused for %v", next, got.Limits[0].NextAfter)
	}
	return retry
}
