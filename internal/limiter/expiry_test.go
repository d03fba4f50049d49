// Copyright The Penstock Authors.
// SPDX-License-Identifier: Apache-2.0

package limiter

import (
	"fmt"
	"maps"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/penstock-dev/penstock/internal/ruleset"
)

// TestMemoryForgetsWhatIsUnused has a new client in every millisecond, whose limit is
// unused a millisecond or a second later.
func TestMemoryForgetsWhatIsUnused(t *testing.T) {
	t.Parallel()
	now := time.UnixMicro(present)
	limiter := NewMemory(func() time.Time { return now }, 0)
	for i := range 30_000 {
		window := []time.Duration{time.Millisecond, time.Second}[i%2]
		decide(t, limiter, tokenBucketOf(fmt.Sprint(i), 1, 1, window))
		now = now.Add(time.Millisecond)
	}
	// Each waits for half as long again at most.
	if counters, _ := kept(limiter); counters < 500 || counters > 800 {
		t.Errorf("%d counters are kept, of which 500 are in use", counters)
	}
	if limiter.Forgotten() != 0 {
		t.Errorf("%d counters in use were forgotten, want none", limiter.Forgotten())
	}
	now = now.Add(24 * time.Hour)
	for i := range 4000 {
		decide(t, limiter, tokenBucketOf(fmt.Sprint("later", i), 1, 1, 24*time.Hour))
	}
	if counters, _ := kept(limiter); counters != 4000 {
		t.Errorf("%d counters are kept, want those of the last 4000 decisions", counters)
	}
	requireSoundShards(t, limiter)
}

// TestUnusedCountersMakeRoomFirst fills a memory with limits that are unused soon,
// and others that never are.
func TestUnusedCountersMakeRoomFirst(t *testing.T) {
	t.Parallel()
	now := time.UnixMicro(present)
	limiter := NewMemory(func() time.Time { return now }, 200)
	for i := range 100 {
		decide(t, limiter, fixedWindowOf(fmt.Sprint("long", i), 1, ages))
		decide(t, limiter, tokenBucketOf(fmt.Sprint("short", i), 1, 1, time.Minute))
	}
	// Those with the second half of the numbers are charged again: they matter longer.
	now = now.Add(time.Minute)
	for i := 50; i < 100; i++ {
		decide(t, limiter, tokenBucketOf(fmt.Sprint("short", i), 1, 1, time.Minute))
	}
	now = now.Add(time.Second)
	for i := range 50 {
		decide(t, limiter, fixedWindowOf(fmt.Sprint("new", i), 1, ages))
	}
	if limiter.Forgotten() != 0 {
		t.Errorf("%d counters in use were forgotten while 50 others were unused", limiter.Forgotten())
	}
	for i := range 50 {
		decide(t, limiter, fixedWindowOf(fmt.Sprint("newer", i), 1, ages))
	}
	if limiter.Forgotten() != 50 {
		t.Errorf("%d counters in use were forgotten, want 50", limiter.Forgotten())
	}
	for i := range 100 {
		if decide(t, limiter, fixedWindowOf(fmt.Sprint("long", i), 1, ages)).Allowed {
			t.Fatalf("client %d of a long window was forgotten before those of short ones", i)
		}
	}
}

// TestCountersWaitLongEnough looks at how long a counter waits for being looked at.
func TestCountersWaitLongEnough(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(r *rapid.T) {
		span := rapid.OneOf(rapid.Int64Range(-10, 100_000), rapid.Int64Range(0, length(lengths-1)), rapid.Int64Range(0, farthest)).Draw(r, "span")
		number := lengthFor(span)
		switch wait := length(number); {
		case number < 0 || number >= lengths:
			r.Fatalf("a span of %d has length %d", span, number)
		case wait < span && number < lengths-1:
			r.Errorf("a span of %d waits for only %d", span, wait)
		case number > 0 && length(number-1) >= span:
			r.Errorf("a span of %d waits for %d, and %d would do", span, wait, length(number-1))
		}
	})
}

// TestWhoMakesRoom has a full memory of three meet a fourth client.
func TestWhoMakesRoom(t *testing.T) {
	t.Parallel()
	type charged struct {
		client string
		after  time.Duration
		window time.Duration
	}
	tests := map[string]struct {
		charges []charged
		want    string
	}{
		"the one unused first": {
			charges: []charged{{"a", 0, 3 * time.Hour}, {"b", 0, time.Hour}, {"c", 0, 2 * time.Hour}, {"d", 0, 4 * time.Hour}}, want: "b",
		},
		"of a long window, which began long ago": {
			charges: []charged{{"a", 0, 14 * time.Hour}, {"b", 12 * time.Hour, 4 * time.Hour}, {"c", 0, 4 * time.Hour}, {"d", 0, 4 * time.Hour}}, want: "a",
		},
		"not the one that was charged again": {
			charges: []charged{{"a", 0, time.Hour}, {"b", 0, 90 * time.Minute}, {"c", 0, 4 * time.Hour}, {"a", 50 * time.Minute, time.Hour}, {"a", time.Minute, time.Hour}, {"d", 0, 4 * time.Hour}}, want: "b",
		},
		"not the one that comes, if it is unused first": {
			charges: []charged{{"a", 0, 3 * time.Hour}, {"b", 0, 2 * time.Hour}, {"c", 0, 3 * time.Hour}, {"d", 0, time.Second}}, want: "b",
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			now := time.UnixMicro(present)
			limiter := NewMemory(func() time.Time { return now }, 3)
			names := map[counterName]string{}
			for _, c := range tc.charges {
				now = now.Add(c.after)
				check := slidingWindowLogOf(c.client, 9, c.window)
				names[nameOf("shop", &check)] = c.client
				decide(t, limiter, check)
			}
			for name := range limiter.shards[0].counters {
				delete(names, name)
			}
			if len(names) != 1 || slices.Collect(maps.Values(names))[0] != tc.want {
				t.Errorf("%v were forgotten, want %s", names, tc.want)
			}
		})
	}
}

// TestLengthsFitTheirOwn looks up each length, and one microsecond more.
func TestLengthsFitTheirOwn(t *testing.T) {
	t.Parallel()
	for number := range lengths {
		next := min(number+1, lengths-1)
		if own, more := lengthFor(length(number)), lengthFor(length(number)+1); own != number || more != next {
			t.Errorf("%d µs have length %d and one more %d, want %d and %d", length(number), own, more, number, next)
		}
	}
}

// TestCountersOfAnyLimitExpire charges and corrects any limits, and lets them be.
func TestCountersOfAnyLimitExpire(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(r *rapid.T) {
		at := present
		limiter := NewMemory(func() time.Time { return time.UnixMicro(at) }, 0)
		longest := time.Duration(0)
		for client := range rapid.IntRange(1, 20).Draw(r, "clients") {
			at += rapid.Int64Range(0, 3_000_000).Draw(r, "step")
			checks := drawChecks(r, fmt.Sprint(client))
			decision := decide(t, limiter, checks...)
			decision.Receipt.abandon()
			if rapid.Bool().Draw(r, "settle") {
				decision.Receipt.Settle(func(*Check) int64 { return 2 })
			}
			for _, check := range checks {
				longest = max(longest, unusedAfter(check))
			}
		}
		// Half as long again as the longest was in use, from the latest time on.
		at += 3*longest.Microseconds()/2 + 100_000_000
		for range 30 {
			decide(t, limiter, costing(fixedWindowOf("later", 1, ages), 0))
		}
		counted := 0
		for i := range limiter.shards {
			s := &limiter.shards[i]
			for range 30 {
				s.tend(at)
			}
			counted += len(s.counters)
		}
		if counted != 0 {
			r.Errorf("%d counters are kept after %v", counted, longest)
		}
		requireSoundShards(r, limiter)
	})
}

// unusedAfter is how long a limit can be in use after it was charged.
func unusedAfter(check Check) time.Duration {
	window := micros(windowOf(check.Limit))
	switch check.Limit.Algorithm {
	case ruleset.TokenBucket, ruleset.LeakyBucket:
		return 2 * micros(check.Limit.WindowMicros*check.Limit.Burst/check.Limit.Requests+1)
	case ruleset.Concurrency:
		return leaseFor
	default:
		return 2 * window
	}
}
