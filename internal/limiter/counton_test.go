// Copyright The Penstock Authors.
// SPDX-License-Identifier: Apache-2.0

package limiter

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/penstock-dev/penstock/internal/ruleset"
	"github.com/penstock-dev/penstock/test/model"
	"github.com/penstock-dev/penstock/test/redistest"
)

// countedOf are limits of five requests of a client, of which some are found not to
// count once they are answered. None wears off while a test runs.
func countedOf(client string) map[string]Check {
	month := ruleset.Calendar{Period: ruleset.PeriodMonth, TimeZone: "Europe/Berlin"}
	counted := map[string]Check{
		"TokenBucket": tokenBucketOf(client, 1, 5, ages), "FixedWindow": fixedWindowOf(client, 5, ages),
		"calendar": calendarOfClient(client, 5, month), "SlidingWindowCounter": slidingWindowCounterOf(client, 5, ages),
		"SlidingWindowLog": slidingWindowLogOf(client, 5, ages),
	}
	for name, check := range counted {
		check.Correctable = true
		counted[name] = check
	}
	return counted
}

// askAtOnce has so many requests decided at once, and returns those that were
// admitted: none is answered yet.
func askAtOnce(t *testing.T, limiter Decider, check Check, requests int) []Decision {
	t.Helper()
	decisions := make([]Decision, requests)
	var running sync.WaitGroup
	for i := range decisions {
		running.Go(func() {
			decision, err := limiter.Decide(context.Background(), "shop", []Check{check})
			if err != nil {
				t.Error(err)
			}
			decisions[i] = decision
		})
	}
	running.Wait()
	return slices.DeleteFunc(decisions, func(d Decision) bool { return !d.Allowed })
}

// answer settles requests, of which so many failed: only those count. It returns what
// the model says is left of the limit.
func answer(t *testing.T, check Check, admitted []Decision, failed int) int64 {
	t.Helper()
	reference := model.New()
	slices.SortFunc(admitted, func(a, b Decision) int { return int(a.StoreTime - b.StoreTime) })
	var receipts []model.Receipt
	var at int64
	for i, d := range admitted {
		checks := modelsOf([]Check{check}, fmt.Sprint(i))
		at = d.StoreTime
		receipts = append(receipts, reference.ReceiptFor(at, checks))
		if allowed, _ := reference.Decide(at, checks); !allowed {
			t.Errorf("the model refuses request %d, which was admitted", i+1)
		}
	}
	for i, d := range admitted {
		due := int64(0)
		if i < failed {
			due = 1
		}
		d.Receipt.Settle(func(*Check) int64 { return due })
		reference.Settle(at, receipts[i], []int64{due})
	}
	return reference.Look(at, modelOf(costing(check, 0))).Remaining
}

// awaitRemaining waits until corrections, which nobody waits for, were made.
func awaitRemaining(t *testing.T, limiter Decider, check Check, want int64) {
	t.Helper()
	await(t, func() error {
		if got := decide(t, limiter, costing(check, 0)).Limits[0].Remaining; got != want {
			return fmt.Errorf("%d requests are left, want %d", got, want)
		}
		return nil
	})
}

// TestSixtyFourFailuresLetFiveThrough has 64 requests at once meet a limit of five
// that counts failures only. Since a request is charged before it goes on, no more
// than five are under way at any time that may fail.
func TestSixtyFourFailuresLetFiveThrough(t *testing.T) {
	t.Parallel()
	client := clientOf(t, redistest.Start(t))
	onRedis := newRedis(t, client.Options(), patience)
	for store, limiter := range map[string]Decider{"redis": onRedis, "memory": NewMemory(nil, 0)} {
		for algorithm, check := range countedOf("a") {
			t.Run(store+"/"+algorithm, func(t *testing.T) {
				// First all succeed, which gives everything back.
				admitted := askAtOnce(t, limiter, check, 64)
				if len(admitted) != 5 {
					t.Errorf("%d of 64 were admitted at once, want 5", len(admitted))
				}
				awaitRemaining(t, limiter, check, answer(t, check, admitted, 0))
				awaitRemaining(t, limiter, check, 5)
				// Then two fail, then all.
				admitted = askAtOnce(t, limiter, check, 64)
				awaitRemaining(t, limiter, check, answer(t, check, admitted, 2))
				awaitRemaining(t, limiter, check, 3)
				admitted = askAtOnce(t, limiter, check, 64)
				for _, d := range admitted {
					d.Receipt.Settle(func(*Check) int64 { return 1 })
				}
				if again := askAtOnce(t, limiter, check, 64); len(admitted) != 3 || len(again) != 0 {
					t.Errorf("%d were admitted beside two failures, and %d after five, want 3 and none", len(admitted), len(again))
				}
			})
		}
	}
	if lost := onRedis.CorrectionsLost(); lost != 0 {
		t.Errorf("%d corrections were lost", lost)
	}
}

// TestAnswersLetFailuresThroughOneByOne has each of 64 requests answered as soon as it
// is admitted: five failures are let through in all, however many succeed.
func TestAnswersLetFailuresThroughOneByOne(t *testing.T) {
	t.Parallel()
	client := clientOf(t, redistest.Start(t))
	for store, limiter := range map[string]Decider{"redis": newRedis(t, client.Options(), patience), "memory": NewMemory(nil, 0)} {
		for algorithm, check := range countedOf("a") {
			t.Run(store+"/"+algorithm, func(t *testing.T) {
				var mu sync.Mutex
				failures := 0
				var running sync.WaitGroup
				for i := range 64 {
					running.Go(func() {
						decision, err := limiter.Decide(context.Background(), "shop", []Check{check})
						if err != nil || !decision.Allowed {
							return
						}
						due := int64(i % 2)
						mu.Lock()
						failures += int(due)
						mu.Unlock()
						decision.Receipt.Settle(func(*Check) int64 { return due })
					})
				}
				running.Wait()
				if failures > 5 {
					t.Errorf("%d failures were let through, want at most 5", failures)
				}
				awaitRemaining(t, limiter, check, int64(5-failures))
			})
		}
	}
}

// TestTheOrderOfCostsDoesNotMatter charges the same costs at one time in two orders.
func TestTheOrderOfCostsDoesNotMatter(t *testing.T) {
	t.Parallel()
	for name, limiter := range clockedLimiters(t) {
		t.Run(name, func(t *testing.T) {
			trace := 0
			rapid.Check(t, func(r *rapid.T) {
				trace++
				limiter.forget()
				limiter.set(t, present+rapid.Int64Range(0, 1_000_000_000).Draw(r, "start"))
				check := drawCheck(r, fmt.Sprint(name, trace, "one"), 0, nil)
				check.Shadow, check.Cost = false, 0
				other := check
				other.Identity = fixedWindowOf(fmt.Sprint(name, trace, "other"), 1, ages).Identity
				costs := rapid.SliceOfN(rapid.Int64Range(0, max(1, check.Limit.Burst/4)), 1, 8).Draw(r, "costs")
				charged := chargeAll(t, limiter, check, costs)
				again := chargeAll(t, limiter, other, rapid.Permutation(charged).Draw(r, "order"))
				if len(again) != len(charged) {
					r.Fatalf("%s admitted %v in one order, and only %v in another", describe([]Check{check}), charged, again)
				}
				limitsOf := func(c Check) []LimitState {
					limits := decide(t, limiter, costing(c, 0)).Limits
					limits[0].Identity = ""
					return limits
				}
				if diff := cmp.Diff(limitsOf(check), limitsOf(other)); diff != "" {
					r.Fatalf("%s after %v in two orders (-one +other):\n%s", describe([]Check{check}), charged, diff)
				}
			})
		})
	}
}

// chargeAll returns the costs that were admitted.
func chargeAll(t *testing.T, limiter clocked, check Check, costs []int64) []int64 {
	t.Helper()
	var charged []int64
	for _, cost := range costs {
		if got := decide(t, limiter, costing(check, min(cost, maxPlaces))); got.Allowed {
			charged = append(charged, cost)
			got.Receipt.abandon()
		}
	}
	return charged
}
