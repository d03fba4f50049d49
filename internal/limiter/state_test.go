// Copyright The Penstock Authors.
// SPDX-License-Identifier: Apache-2.0

package limiter

import (
	"strings"
	"testing"
	"time"

	"github.com/alicebob/miniredis/v2"
	"github.com/google/go-cmp/cmp"
	"github.com/redis/go-redis/v9"

	"github.com/penstock-dev/penstock/internal/keys"
	"github.com/penstock-dev/penstock/test/redistest"
)

// newRedis is a limiter that has a connection, if the store can be reached.
func newRedis(t testing.TB, options *redis.Options, deadline time.Duration) *Redis {
	t.Helper()
	limiter := NewRedis(options, keys.DefaultPrefix, deadline)
	t.Cleanup(limiter.Close)
	limiter.Await(t.Context())
	return limiter
}

// only is the node of a limiter on a store that is no cluster.
func (r *Redis) only() *node { return r.layout.Load().only }

func counterOf(check Check) string {
	return keys.Prefix(keys.DefaultPrefix).Counter("shop", check.Identity, check.Limit.Key)
}

// TestTheStoresClockDecides moves only the store's clock: neither the caller's
// clock nor the time that really passes may matter.
func TestTheStoresClockDecides(t *testing.T) {
	t.Parallel()
	store := miniredis.RunT(t)
	start := time.UnixMicro(present - present%time.Hour.Microseconds())
	store.SetTime(start)
	client := redis.NewClient(&redis.Options{Addr: store.Addr(), Protocol: 2})
	t.Cleanup(func() { _ = client.Close() })
	limiter := newRedis(t, client.Options(), patience)
	limiter.remembered = nil
	for name, check := range map[string]Check{
		"bucket": tokenBucketOf("a", 1, 1, time.Hour), "window": fixedWindowOf("a", 1, time.Hour),
	} {
		steps := []struct {
			at   time.Duration
			want bool
		}{{0, true}, {0, false}, {time.Hour - time.Microsecond, false}, {time.Hour, true}, {time.Hour, false}}
		for _, step := range steps {
			store.SetTime(start.Add(step.at))
			got := decide(t, limiter, check)
			if got.Allowed != step.want {
				t.Errorf("%s at %v: allowed %t, want %t", name, step.at, got.Allowed, step.want)
			}
			if wait := time.Hour - step.at; !got.Allowed && step.at < time.Hour && got.RetryAfter != wait {
				t.Errorf("%s at %v: RetryAfter %v, want %v by the store's clock", name, step.at, got.RetryAfter, wait)
			}
		}
	}
}

// TestRetryAfterIsHonest asks at RetryAfter, and one microsecond before it.
func TestRetryAfterIsHonest(t *testing.T) {
	t.Parallel()
	for name, limiter := range clockedLimiters(t) {
		for _, check := range []Check{
			tokenBucketOf("a", 7, 3, time.Second), tokenBucketOf("b", 700_001, 3, time.Second),
			tokenBucketOf("c", 1, 1, 10*time.Millisecond), fixedWindowOf("d", 3, 10*time.Millisecond),
			slidingWindowCounterOf("e", 3, 10*time.Millisecond), slidingWindowCounterOf("f", 3, time.Second),
			slidingWindowLogOf("g", 3, 10*time.Millisecond),
		} {
			now := present + 4321
			for range 3 {
				limiter.set(t, now)
				decide(t, limiter, check)
			}
			same := costing(check, min(2, check.Limit.Burst))
			got := decide(t, limiter, same)
			if got.Allowed {
				t.Fatalf("%s, %s: admitted, want refused", name, describe([]Check{same}))
			}
			limiter.set(t, now+got.RetryAfter.Microseconds()-1)
			if early := decide(t, limiter, same); early.Allowed || early.RetryAfter != time.Microsecond {
				t.Errorf("%s, %s: one microsecond early: %+v, want refused for another", name, describe([]Check{same}), early)
			}
			limiter.set(t, now+got.RetryAfter.Microseconds())
			if again := decide(t, limiter, same); !again.Allowed {
				t.Errorf("%s, %s: refused at RetryAfter: %+v", name, describe([]Check{same}), again)
			}
		}
	}
}

// TestEditsKeepCounts edits the numbers of limits that were used.
func TestEditsKeepCounts(t *testing.T) {
	t.Parallel()
	second := time.Second
	tests := map[string]struct {
		before, after Check
		charges       int
		chargesAfter  int
		wantRemaining int64
		wantReset     time.Duration // within a microsecond
	}{
		"faster bucket keeps its time to full": {
			before: tokenBucketOf("a", 10, 20, second), after: tokenBucketOf("a", 20, 20, second),
			charges: 10, wantRemaining: 0, wantReset: second,
		},
		"slower bucket keeps its time to full": {
			before: tokenBucketOf("b", 10, 20, second), after: tokenBucketOf("b", 5, 20, second),
			charges: 10, wantRemaining: 15, wantReset: second,
		},
		"lower burst cuts the time to full": {
			before: tokenBucketOf("c", 10, 20, second), after: tokenBucketOf("c", 10, 5, second),
			charges: 10, wantRemaining: 0, wantReset: 500 * time.Millisecond,
		},
		"parts of another unit": {
			before: tokenBucketOf("d", 3, 20, second), after: tokenBucketOf("d", 7, 20, second),
			charges: 1, wantRemaining: 17, wantReset: 333_334 * time.Microsecond,
		},
		"from three digits to more": {
			before: tokenBucketOf("e", 997, 20, second), after: tokenBucketOf("e", 1009, 20, second),
			charges: 1, wantRemaining: 18, wantReset: 1004 * time.Microsecond,
		},
		"from more digits to three": {
			before: tokenBucketOf("f", 1009, 20, second), after: tokenBucketOf("f", 997, 20, second),
			charges: 2, wantRemaining: 18, wantReset: 1983 * time.Microsecond,
		},
		"parts that do not fit the unit build up nothing": {
			before: tokenBucketOf("i", 997, 20, second), after: tokenBucketOf("i", 1, 20, second),
			charges: 2, chargesAfter: 10, wantRemaining: 9, wantReset: 10*second + 2007*time.Microsecond,
		},
		"more requests in a window": {
			before: fixedWindowOf("g", 10, second), after: fixedWindowOf("g", 12, second),
			charges: 10, wantRemaining: 2, wantReset: second,
		},
		"fewer requests in a window": {
			before: fixedWindowOf("h", 10, second), after: fixedWindowOf("h", 4, second),
			charges: 6, wantRemaining: 0, wantReset: second,
		},
		"more requests in a counter": {
			before: slidingWindowCounterOf("j", 10, second), after: slidingWindowCounterOf("j", 12, second),
			charges: 10, wantRemaining: 2, wantReset: 2 * second,
		},
		"fewer requests in a counter": {
			before: slidingWindowCounterOf("k", 10, second), after: slidingWindowCounterOf("k", 4, second),
			charges: 6, wantRemaining: 0, wantReset: 2 * second,
		},
		"more requests in a log": {
			before: slidingWindowLogOf("l", 10, second), after: slidingWindowLogOf("l", 12, second),
			charges: 10, wantRemaining: 2, wantReset: second,
		},
		"fewer requests in a log": {
			before: slidingWindowLogOf("m", 10, second), after: slidingWindowLogOf("m", 4, second),
			charges: 6, wantRemaining: 0, wantReset: second,
		},
	}
	for store, limiter := range clockedLimiters(t) {
		for name, tc := range tests {
			t.Run(store+"/"+name, func(t *testing.T) {
				limiter.set(t, present-present%1_000_000)
				for range tc.charges {
					decide(t, limiter, tc.before)
				}
				for range tc.chargesAfter {
					decide(t, limiter, tc.after)
				}
				state := decide(t, limiter, costing(tc.after, 0)).Limits[0]
				if off := (state.ResetAfter - tc.wantReset).Abs(); state.Remaining < tc.wantRemaining-1 || state.Remaining > tc.wantRemaining || off > time.Microsecond {
					t.Errorf("after the edit %d remain and it resets in %v, want %d and %v", state.Remaining, state.ResetAfter, tc.wantRemaining, tc.wantReset)
				}
			})
		}
	}
}

// TestStateIsSmallAndExpires looks at what stands in Redis.
func TestStateIsSmallAndExpires(t *testing.T) {
	t.Parallel()
	client := clientOf(t, redistest.Start(t))
	limiter := newRedis(t, client.Options(), patience)
	tests := map[string]struct {
		check Check
		// wantEncoding is empty where it differs between versions of Redis.
		wantEncoding string
	}{
		"bucket of whole microseconds": {check: tokenBucketOf("a", 10, 10, time.Minute), wantEncoding: "int"},
		"bucket with few parts":        {check: tokenBucketOf("b", 997, 10, time.Minute), wantEncoding: "int"},
		"bucket with many parts":       {check: tokenBucketOf("c", 1009, 10, time.Minute), wantEncoding: "embstr"},
		"window":                       {check: fixedWindowOf("d", 10, time.Minute), wantEncoding: "int"},
		"short window":                 {check: fixedWindowOf("e", 10, 10*time.Millisecond), wantEncoding: "embstr"},
		"counter":                      {check: slidingWindowCounterOf("f", 10, time.Minute), wantEncoding: "embstr"},
		"log":                          {check: costing(slidingWindowLogOf("h", 100, time.Minute), 100)},
		"largest counter":              {check: costing(slidingWindowCounterOf("g", maxRequests, time.Minute), maxRequests), wantEncoding: "embstr"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			got := decide(t, limiter, tc.check)
			encoding, err := client.ObjectEncoding(t.Context(), counterOf(tc.check)).Result()
			if err != nil || tc.wantEncoding != "" && encoding != tc.wantEncoding {
				t.Errorf("encoding %q, %v, want %q", encoding, err, tc.wantEncoding)
			}
			left, err := client.PTTL(t.Context(), counterOf(tc.check)).Result()
			if reset := got.Limits[0].ResetAfter; err != nil || left <= reset || left > reset+2*time.Second {
				t.Errorf("the key expires in %v, %v, want soon after the limit is unused in %v", left, err, reset)
			}
		})
	}
}

func TestRefusalsAndLooksWriteNothing(t *testing.T) {
	t.Parallel()
	client := clientOf(t, redistest.Start(t))
	limiter := newRedis(t, client.Options(), patience)
	limiter.remembered = nil
	for _, check := range checksOf("a", 2, 2, ages) {
		decide(t, limiter, costing(check, 0))
		if there, err := client.Exists(t.Context(), counterOf(check)).Result(); err != nil || there != 0 {
			t.Errorf("a look wrote the counter (%v)", err)
		}
		decide(t, limiter, check)
		before := dump(t, client, check)
		decide(t, limiter, costing(check, 2))
		decide(t, limiter, costing(check, 3))
		decide(t, limiter, costing(check, 0))
		if diff := cmp.Diff(before, dump(t, client, check)); diff != "" {
			t.Errorf("refusals and a look changed the counter (-before +after):\n%s", diff)
		}
	}
}

// dump is what a counter holds and the time when it expires.
func dump(t *testing.T, client *redis.Client, check Check) []string {
	t.Helper()
	text, err := client.Dump(t.Context(), counterOf(check)).Result()
	if err != nil {
		t.Fatal(err)
	}
	expires, err := client.PExpireTime(t.Context(), counterOf(check)).Result()
	if err != nil {
		t.Fatal(err)
	}
	return []string{text, expires.String()}
}

func TestACorruptCounterFailsOnlyItsOwnRequest(t *testing.T) {
	t.Parallel()
	client := clientOf(t, redistest.Start(t))
	limiter := newRedis(t, client.Options(), patience)
	for algorithm, check := range map[string]Check{
		"TokenBucket": tokenBucketOf("a", 9, 9, time.Hour), "FixedWindow": fixedWindowOf("a", 9, time.Hour),
		"SlidingWindowCounter": slidingWindowCounterOf("a", 9, time.Hour/2), "SlidingWindowLog": slidingWindowLogOf("a", 9, time.Hour),
	} {
		for _, garbage := range []string{"", "hello", "-5000", "1.5e300", "12", "99999999999999999999999999999.1", "1:2", "1:2:99999999999999999999"} {
			if err := client.Set(t.Context(), counterOf(check), garbage, 0).Err(); err != nil {
				t.Fatal(err)
			}
			requireCorrupt(t, client, limiter, algorithm, check)
		}
		if err := client.Del(t.Context(), counterOf(check)).Err(); err != nil {
			t.Fatal(err)
		}
		if err := client.RPush(t.Context(), counterOf(check), "a list").Err(); err != nil {
			t.Fatal(err)
		}
		requireCorrupt(t, client, limiter, algorithm, check)
	}
}

// requireCorrupt asks often enough to open the breaker, were it counted.
func requireCorrupt(t *testing.T, client *redis.Client, limiter *Redis, algorithm string, check Check) {
	t.Helper()
	other := fixedWindowOf("b", 1_000_000, ages)
	for range opensAfter + 1 {
		_, err := limiter.Decide(t.Context(), "shop", []Check{check, other})
		if err == nil || !strings.Contains(err.Error(), algorithm) || ErrorKind(err) != KindScript {
			t.Fatalf("error %v, want one of kind script that names %s", err, algorithm)
		}
	}
	if left, err := client.PTTL(t.Context(), counterOf(check)).Result(); err != nil || left <= 0 || left > time.Hour+2*time.Second {
		t.Errorf("the corrupt counter clears in %v, %v, want at most the limit's own time", left, err)
	}
	if got := decide(t, limiter, costing(other, 0)); got.Limits[0].Remaining != 1_000_000 {
		t.Errorf("the other limit was charged: %+v", got)
	}
}
