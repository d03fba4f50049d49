// Copyright The Penstock Authors.
// SPDX-License-Identifier: Apache-2.0

package limiter

import (
	"errors"
	"math"
	"slices"
	"testing"
	"time"

	"github.com/penstock-dev/penstock/internal/ruleset"
)

// anyCheck is a check of any numbers, valid or not. The algorithm behind the last is
// a calendar's window. Of the bits of asks, each asks for something.
func anyCheck(algorithm, asks uint8, requests, window, burst, cost, looseness, pods int64) Check {
	limit := ruleset.Limit{Name: "limit", Requests: requests, WindowMicros: window, Burst: burst}
	if number := int(algorithm) % (len(algorithms) + 1); number < len(algorithms) {
		limit.Algorithm = algorithms[number]
	} else {
		limit.Algorithm, limit.WindowMicros = ruleset.FixedWindow, 0
		limit.Calendar = &ruleset.Calendar{Period: ruleset.PeriodMonth, TimeZone: "Africa/Cairo"}
	}
	check := costing(checkOf("client", limit), cost)
	check.Shadow, check.Correctable, check.Settled = asks&1 > 0, asks&2 > 0, asks&4 > 0
	check.LoosenessMilli, check.LivePods = looseness, pods
	return check
}

// requireField fails unless an error is about one of these fields.
func requireField(t *testing.T, err error, fields ...string) {
	t.Helper()
	var invalid *InvalidError
	if !errors.As(err, &invalid) || !slices.Contains(fields, invalid.Field) || invalid.Problem == "" {
		t.Errorf("error %v, want one about %v", err, fields)
	}
}

// requireBounds fails if a decision says what cannot be of any limit.
func requireBounds(t *testing.T, got Decision, check Check) {
	t.Helper()
	for _, s := range got.Limits {
		if s.Remaining < 0 || s.Remaining > max(check.Limit.Requests, check.Limit.Burst) ||
			s.ResetAfter < 0 || s.NextAfter < 0 || s.RetryAfter < 0 || s.NextAfter > s.ResetAfter && check.Limit.Algorithm != ruleset.SlidingWindowCounter {
			t.Errorf("%s: state %+v is out of bounds", describe([]Check{check}), s)
		}
		if s.Allowed && s.RetryAfter > 0 || !s.Allowed && !s.Never && s.RetryAfter <= 0 || s.Never && (s.Allowed || s.RetryAfter > 0) {
			t.Errorf("%s: state %+v contradicts itself", describe([]Check{check}), s)
		}
	}
	if got.RetryAfter < 0 || got.Delay < 0 || got.Allowed && got.RetryAfter > 0 {
		t.Errorf("%s: decision %+v is out of bounds", describe([]Check{check}), got)
	}
}

// FuzzRule has rules of any numbers decided on in memory, whole and as a share.
func FuzzRule(f *testing.F) {
	const minute = int64(time.Minute / time.Microsecond)
	for algorithm := range uint8(len(algorithms) + 1) {
		f.Add(algorithm, uint8(0), int64(10), minute, int64(10), int64(1), int64(1000), int64(1))
		f.Add(algorithm, uint8(2), int64(3), int64(1), int64(1), int64(3), int64(1), int64(50))
		f.Add(algorithm, uint8(7), int64(maxRequests), maxWindowMicros, int64(maxRequests), int64(maxCost), int64(math.MaxInt64), int64(math.MaxInt64))
		f.Add(algorithm, uint8(3), int64(2_147_483_647), int64(10_000), int64(2_147_483_647), int64(maxPlaces), int64(-1), int64(-1))
		f.Add(algorithm, uint8(0), int64(math.MinInt64), int64(math.MinInt64), int64(math.MinInt64), int64(math.MinInt64), int64(0), int64(0))
		f.Add(algorithm, uint8(1), int64(math.MaxInt64), int64(math.MaxInt64), int64(math.MaxInt64), int64(math.MaxInt64), int64(0), int64(0))
		f.Add(algorithm, uint8(6), int64(1), maxWindowMicros, int64(9), int64(0), int64(1<<20), int64(1<<20))
	}
	f.Fuzz(func(t *testing.T, algorithm, asks uint8, requests, window, burst, cost, looseness, pods int64) {
		check := anyCheck(algorithm, asks, requests, window, burst, cost, looseness, pods)
		at := present
		now := func() time.Time { return time.UnixMicro(at) }
		whole, share := NewMemory(now, 0), WithFallback(undecided{errors.New("x")}, FallbackOptions{Now: now})
		for range 3 {
			got, err := whole.Decide(t.Context(), "shop", []Check{check})
			if err != nil {
				requireField(t, err, "cost", "requests", "window", "burst")
				return
			}
			requireBounds(t, got, check)
			got.Receipt.Settle(func(*Check) int64 { return burst })
			local := decide(t, share, check)
			for _, s := range local.Limits {
				if s.Remaining < 0 || s.ResetAfter < 0 || s.NextAfter < 0 || s.RetryAfter < 0 {
					t.Errorf("%s: the share of %d/1000 among %d pods is in state %+v", describe([]Check{check}), looseness, pods, s)
				}
			}
			local.Receipt.Cancel()
			at += min(got.RetryAfter.Microseconds(), maxWindowMicros)
		}
	})
}

// FuzzIdentity has any text as identity: it is refused, or is a part of a key.
func FuzzIdentity(f *testing.F) {
	for _, identity := range []string{"", "kB3JQ1Nn9yFQ0r1gq2kW7A", "a:b", "{a}", "}", "a\x00", "a b", "ü", "a\n", string(make([]byte, 1<<20))} {
		f.Add(identity)
	}
	f.Fuzz(func(t *testing.T, identity string) {
		check := tokenBucketOf("a", 1, 1, time.Hour)
		check.Identity = identity
		_, err := NewMemory(nil, 0).Decide(t.Context(), "shop", []Check{check})
		if err != nil {
			requireField(t, err, "identity")
			if len(err.Error()) > 200 {
				t.Errorf("an error of %d bytes repeats the identity", len(err.Error()))
			}
			return
		}
		if name := counterOf(check); len(identity) > maxIdentity || name != "penstock:n:shop:{"+identity+"}:"+check.Limit.Key {
			t.Errorf("identity %q was accepted, and makes the key %q", identity, name)
		}
	})
}
