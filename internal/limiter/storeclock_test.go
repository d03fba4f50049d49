// Copyright The Penstock Authors.
// SPDX-License-Identifier: Apache-2.0

package limiter

import (
	"testing"
	"time"

	"github.com/penstock-dev/penstock/test/redistest"
)

func TestAClockThatStepsBackIsNoticed(t *testing.T) {
	t.Parallel()
	const second = int64(1_000_000)
	type answer struct {
		// sent and received are when, and shows is what the store's clock showed.
		sent, received time.Duration
		shows          int64
		wantBehind     bool
	}
	tests := map[string][]answer{
		"steady": {
			{0, time.Millisecond, present, false}, {time.Second, time.Second + time.Millisecond, present + second, false},
			{time.Hour, time.Hour + time.Millisecond, present + 3600*second, false},
		},
		"answers that were long under way": {
			{0, 10 * time.Second, present + 9*second, false}, {0, 20 * time.Second, present + second, false},
			{20 * time.Second, 20 * time.Second, present + 20*second, false},
		},
		"slowed down": {
			{0, 0, present, false}, {time.Second, time.Second, present + second - 90_000, false},
			{2 * time.Second, 2 * time.Second, present + 2*second - 180_000, false},
		},
		"back by an hour, until that is over": {
			{0, 0, present, false}, {time.Second, time.Second, present - 3599*second, true},
			{2 * time.Second, 2 * time.Second, present - 3598*second, true},
			{time.Hour, time.Hour, present - second, true},
			{time.Hour + 2*time.Second, time.Hour + 2*time.Second, present + 2*second, false},
		},
		"forward by a day": {
			{0, 0, present, false}, {time.Second, time.Second, present + 86_401*second, false},
			{2 * time.Second, 2 * time.Second, present + 86_402*second, false},
		},
		"forward and back": {
			{0, 0, present, false}, {time.Second, time.Second, present + 86_401*second, false},
			{2 * time.Second, 2 * time.Second, present + 2*second, true},
			{3 * time.Second, 3 * time.Second, present + 86_410*second, false},
		},
	}
	for name, answers := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			began := time.Now()
			clock := newStoreClock(began)
			for i, a := range answers {
				clock.observe(a.shows, began.Add(a.sent), began.Add(a.received))
				if got := clock.behind(); got != a.wantBehind {
					t.Errorf("after answer %d: behind %t, want %t", i+1, got, a.wantBehind)
				}
			}
		})
	}
}

// TestBucketsAreCutOnceTheClockIsSeenBehind sets the store's clock back by an hour. A
// bucket that is used up lies that far ahead then. Whoever saw the clock before has it
// cut for good; to others it might be the work of a pod that knows a larger burst.
func TestBucketsAreCutOnceTheClockIsSeenBehind(t *testing.T) {
	t.Parallel()
	client := clientOf(t, redistest.Start(t))
	for name, watches := range map[string]bool{"saw the clock before": true, "is new": false} {
		t.Run(name, func(t *testing.T) {
			limiter := newClockedRedis(t, client)
			check := tokenBucketOf(name, 1, 3, 10*time.Second)
			if watches {
				limiter.only().dispatcher.scripts.clock = newStoreClock(time.Now())
			}
			limiter.set(t, present)
			decide(t, limiter, costing(check, 3))
			now := present - time.Hour.Microseconds()
			var refused Decision
			for range 2 {
				limiter.set(t, now)
				if refused = decide(t, limiter, check); refused.Allowed || refused.RetryAfter != 10*time.Second {
					t.Fatalf("%+v, want refused for ten seconds", refused)
				}
			}
			limiter.set(t, now+refused.RetryAfter.Microseconds())
			if got := decide(t, limiter, check); got.Allowed != watches {
				t.Errorf("after the wait: allowed %t, want %t", got.Allowed, watches)
			}
		})
	}
}
