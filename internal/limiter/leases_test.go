// Copyright The Penstock Authors.
// SPDX-License-Identifier: Apache-2.0

package limiter

import (
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/penstock-dev/penstock/internal/ruleset"
	"github.com/penstock-dev/penstock/test/redistest"
)

func leasing(check Check, pods int64) Check {
	check.Leased, check.LivePods = true, pods
	return check
}

// leasedOf are limits that allow leases, of so many requests of a client.
func leasedOf(client string, requests int64) map[string]Check {
	return map[string]Check{
		"bucket":  leasing(tokenBucketOf(client, 1, requests, 3*24*time.Hour), 2),
		"window":  leasing(fixedWindowOf(client, requests, ages), 2),
		"counter": leasing(slidingWindowCounterOf(client, requests, ages), 2),
		"log":     leasing(slidingWindowLogOf(client, requests, ages), 2),
		"calendar": leasing(calendarOfClient(client, requests,
			ruleset.Calendar{Period: ruleset.PeriodMonth, TimeZone: "UTC"}), 2),
	}
}

// TestALeaseIsSpentWithoutTheStore looks at how many calls reach it: an eighth of
// what remains is leased, so the first call pays for the next ones.
func TestALeaseIsSpentWithoutTheStore(t *testing.T) {
	t.Parallel()
	client := clientOf(t, redistest.Start(t))
	limiter := newRedis(t, client.Options(), patience)
	warm(t, limiter)
	for name, check := range leasedOf("a", 801) {
		t.Run(name, func(t *testing.T) {
			before := calls(t, client, "evalsha")
			began := time.Now()
			for i := range int64(101) {
				got := decide(t, limiter, check)
				if !got.Allowed || got.Limits[0].Remaining != 800-i {
					t.Fatalf("request %d: %+v, want admitted with %d left", i+1, got, 800-i)
				}
			}
			if made := calls(t, client, "evalsha") - before; made != 1 && time.Since(began) < leaseLongest {
				t.Errorf("%d calls for 101 requests, want 1 that leased 100", made)
			}
		})
	}
}

// TestLeasesAdmitNoMoreThanTheLimit has several sidecars spend at once, in windows
// that do not end: all of the limit can be spent, and nothing on top of it.
func TestLeasesAdmitNoMoreThanTheLimit(t *testing.T) {
	t.Parallel()
	server := redistest.Start(t)
	clientOf(t, server)
	for name, check := range leasedOf("b", 1000) {
		t.Run(name, func(t *testing.T) {
			var admitted atomic.Int64
			var running sync.WaitGroup
			for range 4 {
				limiter := newRedis(t, sidecarOptions(t, server.Addr()), patience)
				for range 4 {
					running.Go(func() {
						for range 500 {
							if decide(t, limiter, check).Allowed {
								admitted.Add(1)
							}
						}
					})
				}
			}
			running.Wait()
			if got := admitted.Load(); got > 1000 || got < 500 {
				t.Errorf("%d were admitted of 8000, want at most 1000, and at least half of these", got)
			}
		})
	}
}

func TestLeasesEnd(t *testing.T) {
	t.Parallel()
	const window = 100 * time.Millisecond
	for name, tc := range map[string]struct {
		check Check
		stand standing
		want  time.Duration
	}{
		"a tenth of the window":           {check: fixedWindowOf("a", 800, window), stand: standing{second: 90_000}, want: window / 10},
		"until its window ends":           {check: fixedWindowOf("a", 800, window), stand: standing{second: 3000}, want: 3 * time.Millisecond},
		"until the counter's window ends": {check: slidingWindowCounterOf("a", 800, window), stand: standing{third: 97_000}, want: 3 * time.Millisecond},
		"a second":                        {check: tokenBucketOf("a", 1, 1, time.Hour), want: time.Second},
	} {
		if got := leaseFrom(tc.check.Limit, tc.stand); got != tc.want {
			t.Errorf("%s: a lease lasts %v, want %v", name, got, tc.want)
		}
	}
	l, now := newLeases(), time.Now()
	check := leasing(fixedWindowOf("a", 800, ages), 1)
	l.kept[nameOf("shop", &check)] = lease{limit: check.Limit, left: 3, until: now.Add(time.Second)}
	changed := check
	changed.Limit = new(*check.Limit)
	for name, tc := range map[string]struct {
		check Check
		at    time.Time
		want  bool
	}{
		"in time":           {check: check, at: now, want: true},
		"too late":          {check: check, at: now.Add(time.Second)},
		"a new rule set":    {check: changed, at: now},
		"more than a lease": {check: costing(check, 4), at: now},
	} {
		if _, spent := l.spend(tc.at, "shop", []Check{tc.check}); spent != tc.want {
			t.Errorf("%s: spent %t, want %t", name, spent, tc.want)
		}
	}
	l.sweep(now.Add(time.Second))
	if len(l.kept) != 0 {
		t.Errorf("%d leases are kept that are over", len(l.kept))
	}
}

// TestOnlyOneRequestTakesALease has many ask at once: else their leases together
// would take all that remains, and most would be lost.
func TestOnlyOneRequestTakesALease(t *testing.T) {
	t.Parallel()
	limiter := newRedis(t, clientOf(t, redistest.Start(t)).Options(), patience)
	check := leasing(fixedWindowOf("a", 8000, ages), 1)
	requests := make([][]Check, 64)
	for i := range requests {
		requests[i] = []Check{check}
	}
	decisions, errs := batch(t, limiter, requests)
	for i := range decisions {
		if errs[i] != nil || !decisions[i].Allowed {
			t.Fatalf("request %d: %+v, %v", i+1, decisions[i], errs[i])
		}
	}
	exact := check
	exact.Leased = false
	if left := decide(t, limiter, costing(exact, 0)).Limits[0].Remaining; left < 5000 {
		t.Errorf("%d of 8000 are left in the store after 64 requests, want one lease of a quarter", left)
	}
}

// TestLeasesAreOnlyForRequestsThatNeedNothingElse: else the store is asked anyway,
// and leases that nobody spends would take from the others.
func TestLeasesAreOnlyForRequestsThatNeedNothingElse(t *testing.T) {
	t.Parallel()
	limiter := newRedis(t, clientOf(t, redistest.Start(t)).Options(), patience)
	check := leasing(fixedWindowOf("a", 800, ages), 1)
	correctable := check
	correctable.Correctable = true
	for name, with := range map[string][]Check{
		"an exact limit": {check, fixedWindowOf("b", 800, ages)}, "a queue": {check, leasing(leakyBucketOf("c", 1, 5, time.Second), 1)},
		"a place": {check, leasing(concurrencyOf("d", 800), 1)}, "a cost to correct": {correctable}, "a look": {costing(check, 0)},
	} {
		got := decide(t, limiter, with...)
		got.Receipt.Settle(nil)
		if len(limiter.leases.kept) != 0 {
			t.Errorf("with %s: a lease was taken", name)
		}
	}
}

func TestLeasesAreBounded(t *testing.T) {
	t.Parallel()
	l := newLeases()
	for i := range mostLeases + 10 {
		l.ask("shop", []Check{leasing(fixedWindowOf(string(rune('a'+i)), 9, ages), 1)})
	}
	if len(l.kept) != mostLeases {
		t.Errorf("%d leases are kept, want %d", len(l.kept), mostLeases)
	}
}

// TestWhatALeaseDidNotSpendIsGivenBack has a client come now and then: each time a
// part of its limit is leased, and it must not lose that.
func TestWhatALeaseDidNotSpendIsGivenBack(t *testing.T) {
	t.Parallel()
	server := redistest.Start(t)
	clientOf(t, server)
	ends := map[string]func(*Redis, *Check){
		"its time is over": func(r *Redis, _ *Check) {
			r.leases.sweep(time.Now().Add(leaseLongest))
			r.returnLeases()
		},
		"the process ends": func(r *Redis, _ *Check) { r.Close() },
		"new rules come": func(r *Redis, check *Check) {
			check.Limit = new(*check.Limit)
			r.leases.ask("shop", []Check{*check})
			r.returnLeases()
		},
	}
	exact := newRedis(t, sidecarOptions(t, server.Addr()), patience)
	for end, do := range ends {
		for name, check := range leasedOf(end, 801) {
			limiter := newRedis(t, sidecarOptions(t, server.Addr()), patience)
			asked := check
			decide(t, limiter, check)
			look := costing(asked, 0)
			look.Leased = false
			if left := decide(t, exact, look).Limits[0].Remaining; left > 750 {
				t.Errorf("%s, %s: %d of 801 are left in the store, want a hundred leased", end, name, left)
			}
			do(limiter, &check)
			await(t, func() error {
				if left := decide(t, exact, look).Limits[0].Remaining; left != 800 {
					return fmt.Errorf("%s, %s: %d of 801 are left after one request", end, name, left)
				}
				return nil
			})
		}
	}
}
