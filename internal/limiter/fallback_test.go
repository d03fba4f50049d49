// Copyright The Penstock Authors.
// SPDX-License-Identifier: Apache-2.0

package limiter

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/penstock-dev/penstock/internal/ruleset"
)

// undecided is a store that gives no verdict.
type undecided struct{ err error }

func (u undecided) Decide(context.Context, string, []Check) (Decision, error) {
	return Decision{}, u.err
}

func failing(check Check, failure ruleset.OnStoreFailure) Check {
	check.OnStoreFailure = failure
	return check
}

func TestEachRuleDecidesOnAStoreFailure(t *testing.T) {
	t.Parallel()
	local := failing(fixedWindowOf("local", 2, ages), ruleset.FailLocal)
	absent := failing(fixedWindowOf("absent", 2, ages), "")
	allow, deny := failing(fixedWindowOf("allow", 2, ages), ruleset.FailAllow), failing(fixedWindowOf("deny", 2, ages), ruleset.FailDeny)
	used := failing(costing(fixedWindowOf("never", 2, ages), 3), ruleset.FailLocal)
	tests := map[string]struct {
		checks      []Check
		wantAllowed bool
		wantSource  Source
		wantStates  []Source
	}{
		"local":          {checks: []Check{local}, wantAllowed: true, wantSource: Local, wantStates: []Source{Local}},
		"absent":         {checks: []Check{absent}, wantAllowed: true, wantSource: Local, wantStates: []Source{Local}},
		"local refuses":  {checks: []Check{used}, wantSource: Local, wantStates: []Source{Local}},
		"allow":          {checks: []Check{allow}, wantAllowed: true, wantSource: StoreAllowed, wantStates: []Source{StoreAllowed}},
		"deny":           {checks: []Check{deny}, wantSource: StoreDenied, wantStates: []Source{StoreDenied}},
		"allow, local":   {checks: []Check{allow, local}, wantAllowed: true, wantSource: Local, wantStates: []Source{Local, StoreAllowed}},
		"all three":      {checks: []Check{allow, local, deny}, wantSource: StoreDenied, wantStates: []Source{StoreDenied}},
		"no limits":      {wantAllowed: true, wantSource: StoreAllowed},
		"a broken limit": {checks: []Check{{}}, wantSource: StoreDenied, wantStates: []Source{StoreDenied}},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got := decide(t, WithFallback(undecided{errors.New("x")}, FallbackOptions{}), tc.checks...)
			var sources []Source
			for _, state := range got.Limits {
				sources = append(sources, state.Source)
			}
			if got.Allowed != tc.wantAllowed || got.Source != tc.wantSource || !slices.Equal(sources, tc.wantStates) {
				t.Errorf("decision %+v, want allowed %t from %d, states from %v", got, tc.wantAllowed, tc.wantSource, tc.wantStates)
			}
		})
	}
}

func TestADenyingRuleChargesNothingLocally(t *testing.T) {
	t.Parallel()
	limiter := WithFallback(undecided{errors.New("x")}, FallbackOptions{})
	local := fixedWindowOf("local", 9, ages)
	local.LoosenessMilli = 1000
	decide(t, limiter, local, failing(fixedWindowOf("deny", 2, ages), ruleset.FailDeny))
	if got := decide(t, limiter, local); got.Limits[0].Remaining != 8 {
		t.Errorf("%d left, want 8", got.Limits[0].Remaining)
	}
}

func TestAVerdictOfTheStoreStands(t *testing.T) {
	t.Parallel()
	now := func() time.Time { return time.UnixMicro(present) }
	store, want := NewMemory(now, 0), NewMemory(now, 0)
	var kinds []string
	limiter := WithFallback(store, FallbackOptions{OnStoreError: func(kind string) { kinds = append(kinds, kind) }})
	for range 3 {
		check := fixedWindowOf("a", 2, ages)
		if diff := cmp.Diff(decide(t, want, check), decide(t, limiter, check)); diff != "" {
			t.Errorf("decision (-store +got):\n%s", diff)
		}
	}
	if len(kinds) != 0 {
		t.Errorf("store errors %v were reported, want none", kinds)
	}
}

func TestStoreErrorsAreReportedByKind(t *testing.T) {
	t.Parallel()
	left, leave := context.WithCancel(t.Context())
	leave()
	tests := map[string]struct {
		ctx  context.Context
		err  error
		want []string
	}{
		"timeout":         {ctx: t.Context(), err: fmt.Errorf("x: %w", context.DeadlineExceeded), want: []string{KindTimeout}},
		"open breaker":    {ctx: t.Context(), err: ErrBreakerOpen},
		"the caller left": {ctx: left, err: context.Canceled},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var kinds []string
			limiter := WithFallback(undecided{tc.err}, FallbackOptions{OnStoreError: func(kind string) { kinds = append(kinds, kind) }})
			if _, err := limiter.Decide(tc.ctx, "shop", []Check{fixedWindowOf("a", 2, ages)}); err != nil {
				t.Errorf("error %v from a fallback, want none ever", err)
			}
			if !slices.Equal(kinds, tc.want) {
				t.Errorf("reported %v, want %v", kinds, tc.want)
			}
		})
	}
}

// sharing is a check whose limit is shared over pods.
func sharing(check Check, looseness, pods int64) Check {
	check.LoosenessMilli, check.LivePods = looseness, pods
	return check
}

func TestLocalSharesAreAllowed(t *testing.T) {
	t.Parallel()
	minute, day := time.Minute, 24*time.Hour
	utcDay := ruleset.Calendar{Period: ruleset.PeriodDay, TimeZone: "UTC"}
	tests := map[string]struct {
		check Check
		// wantFirst are admitted at once, wantDay over a day of asking.
		wantFirst, wantDay int64
	}{
		"one pod, as it is":       {check: sharing(tokenBucketOf("a", 10, 10, minute), 1000, 1), wantFirst: 10, wantDay: 10 + 14_400},
		"one pod, looser":         {check: sharing(tokenBucketOf("a", 10, 10, minute), 1500, 1), wantFirst: 15, wantDay: 15 + 21_600},
		"absent is one, looser":   {check: sharing(tokenBucketOf("a", 10, 10, minute), 0, 0), wantFirst: 15, wantDay: 15 + 21_600},
		"seven pods":              {check: sharing(tokenBucketOf("a", 10, 10, minute), 1500, 7), wantFirst: 2, wantDay: 2 + 3085},
		"less than one":           {check: sharing(tokenBucketOf("a", 10, 10, minute), 1500, 50), wantFirst: 1, wantDay: 1 + 432},
		"window, looser":          {check: sharing(fixedWindowOf("a", 10, minute), 1500, 1), wantFirst: 15, wantDay: 21_600 + 15},
		"window, seven pods":      {check: sharing(fixedWindowOf("a", 10, minute), 1500, 7), wantFirst: 2, wantDay: 2880 + 2},
		"window, less than one":   {check: sharing(fixedWindowOf("a", 10, minute), 1500, 50), wantFirst: 1, wantDay: 361},
		"counter, seven pods":     {check: sharing(slidingWindowCounterOf("a", 10, minute), 1500, 7), wantFirst: 2, wantDay: 2 + 1440},
		"counter, less than one":  {check: sharing(slidingWindowCounterOf("a", 10, minute), 1500, 50), wantFirst: 1, wantDay: 181},
		"calendar, seven pods":    {check: sharing(calendarOfClient("a", 10, utcDay), 1500, 7), wantFirst: 2, wantDay: 2 + 2},
		"log, seven pods":         {check: sharing(slidingWindowLogOf("a", 10, minute), 1500, 7), wantFirst: 2, wantDay: 2880 + 2},
		"log, less than one":      {check: sharing(slidingWindowLogOf("a", 10, minute), 1500, 50), wantFirst: 1, wantDay: 361},
		"calendar, less than one": {check: sharing(calendarOfClient("a", 10, utcDay), 1500, 50), wantFirst: 1, wantDay: 1},
		"cost over the share":     {check: costing(sharing(tokenBucketOf("a", 10, 10, minute), 1000, 10), 5), wantFirst: 1, wantDay: 1 + 288},
		"window, cost over it":    {check: costing(sharing(fixedWindowOf("a", 10, minute), 1000, 10), 5), wantFirst: 1, wantDay: 1 + 288},
		"cost over the limit":     {check: costing(sharing(tokenBucketOf("a", 10, 10, minute), 5000, 1), 11)},
		"window, cost over that":  {check: costing(sharing(fixedWindowOf("a", 10, minute), 5000, 1), 11)},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			// The start of a day is the start of every window here.
			now := time.UnixMicro(present - present%(360*day).Microseconds())
			limiter := WithFallback(undecided{errors.New("x")}, FallbackOptions{Now: func() time.Time { return now }})
			end, admitted, first := now.Add(day), int64(0), int64(-1)
			for asked := 0; !now.After(end) && asked < 100_000; asked++ {
				got := decide(t, limiter, tc.check)
				if got.Never {
					break
				}
				if got.Allowed {
					admitted++
					continue
				}
				if first < 0 {
					first = admitted
				}
				now = now.Add(got.RetryAfter)
			}
			if max(first, 0) != tc.wantFirst || admitted != tc.wantDay {
				t.Errorf("admitted %d at once and %d in a day, want %d and %d", first, admitted, tc.wantFirst, tc.wantDay)
			}
		})
	}
}

// TestAShareNeverLeavesMoreThanTheLimit has one pod, which may admit half as much again.
func TestAShareNeverLeavesMoreThanTheLimit(t *testing.T) {
	t.Parallel()
	limiter := WithFallback(undecided{errors.New("x")}, FallbackOptions{})
	for i := range int64(30) {
		for name, check := range ninesOf("a") {
			got := decide(t, limiter, check)
			if left := got.Limits[0].Remaining; left > 9 || got.Allowed != (i < 13) {
				t.Errorf("%s, request %d: allowed %t with %d left, want the first 13 and at most 9 left", name, i+1, got.Allowed, left)
			}
		}
	}
}

func TestSharesOfAnyLimitCanBeCounted(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(r *rapid.T) {
		requests, burst := rapid.Int64Range(1, maxRequests), rapid.Int64Range(1, maxRequests)
		window := time.Duration(rapid.Int64Range(1, maxWindowMicros).Draw(r, "window")) * time.Microsecond
		check := tokenBucketOf("a", requests.Draw(r, "requests"), burst.Draw(r, "burst"), window)
		check = rapid.SampledFrom(checksOf("a", check.Limit.Requests, check.Limit.Burst, window)).Draw(r, "algorithm")
		if validate(&check) != nil {
			return
		}
		check = sharing(check, rapid.Int64Range(1, math.MaxInt64).Draw(r, "looseness"), rapid.Int64Range(1, math.MaxInt64).Draw(r, "pods"))
		check.Cost = rapid.Int64Range(0, check.Limit.Burst).Draw(r, "cost")
		if check.Limit.Algorithm == ruleset.Concurrency {
			check.Cost = min(check.Cost, maxPlaces)
		}
		limiter := WithFallback(undecided{errors.New("x")}, FallbackOptions{Now: func() time.Time { return time.UnixMicro(present) }})
		for i := range 3 {
			got := decide(t, limiter, check)
			state := got.Limits[0]
			if i == 0 && !got.Allowed || got.Never || state.Remaining < 0 || state.ResetAfter < 0 || state.NextAfter < 0 || state.RetryAfter < 0 {
				r.Fatalf("request %d on %s: %+v, want it admitted at first and nothing negative", i+1, describe([]Check{check}), got)
			}
		}
	})
}
