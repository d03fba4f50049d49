// Copyright The Penstock Authors.
// SPDX-License-Identifier: Apache-2.0

package limiter

import (
	"fmt"
	"sync"
	"testing"

	"go.uber.org/goleak"

	"github.com/penstock-dev/penstock/test/redistest"
)

// TestARenewedPlaceIsHeld renews a lease before it runs out, and then lets it.
func TestARenewedPlaceIsHeld(t *testing.T) {
	t.Parallel()
	for name, limiter := range clockedLimiters(t) {
		t.Run(name, func(t *testing.T) {
			check := costing(concurrencyOf(name, 3), 2)
			limiter.set(t, present)
			receipt := decide(t, limiter, check).Receipt
			receipt.book = limiter.book()
			lease := leaseFor.Microseconds()
			requireHeld := func(at, want int64) {
				t.Helper()
				limiter.set(t, present+at)
				if got := decide(t, limiter, costing(check, 0)).Limits[0]; got.Remaining != 3-want {
					t.Errorf("%v after the start: %d of 3 places are free, want %d", micros(at), got.Remaining, 3-want)
				}
			}
			for i := range int64(3) {
				// Each renewal is just in time.
				requireHeld((i+1)*(lease-1), 2)
				receipt.renew()
			}
			requireHeld(4*(lease-1), 2)
			requireHeld(4*lease, 0)
			// The request is being answered all the same: it holds its places again.
			receipt.renew()
			requireHeld(4*lease, 2)
			receipt.Cancel()
			requireHeld(4*lease, 0)
			receipt.renew()
			requireHeld(4*lease, 0)
		})
	}
}

// TestGivingBackTwiceGivesBackOnce ends receipts again and again while others hold
// places of the same limit.
func TestGivingBackTwiceGivesBackOnce(t *testing.T) {
	t.Parallel()
	for name, limiter := range clockedLimiters(t) {
		t.Run(name, func(t *testing.T) {
			limiter.set(t, present)
			place, charged := concurrencyOf(name, 5), fixedWindowOf(name, 5, ages)
			charged.Correctable = true
			var receipts []*Receipt
			for range 4 {
				receipt := decide(t, limiter, place, charged).Receipt
				receipt.book = limiter.book()
				receipts = append(receipts, receipt)
			}
			for range 3 {
				receipts[0].Cancel()
				receipts[1].Settle(func(*Check) int64 { return 0 })
				receipts[1].Cancel()
				receipts[0].Settle(func(*Check) int64 { return 9 })
			}
			for _, check := range []Check{place, charged} {
				if got := decide(t, limiter, costing(check, 0)).Limits[0]; got.Remaining != 3 {
					t.Errorf("%d of 5 are left of %s, want 3", got.Remaining, check.Limit.Algorithm)
				}
			}
			for _, receipt := range receipts {
				receipt.Cancel()
			}
		})
	}
}

// TestNoRenewalComesAfterTheEnd renews leases while their requests end, by many
// goroutines at once, and has none reach the store before all have.
func TestNoRenewalComesAfterTheEnd(t *testing.T) {
	t.Parallel()
	client := clientOf(t, redistest.Start(t))
	limiter := newRedis(t, client.Options(), patience)
	check := concurrencyOf("a", 100)
	receipts := make([]*Receipt, 100)
	for i := range receipts {
		receipts[i] = decide(t, limiter, check).Receipt
	}
	held := hold(t, limiter)
	var running sync.WaitGroup
	for _, receipt := range receipts {
		for range 3 {
			running.Go(receipt.renew)
		}
		running.Go(receipt.Cancel)
	}
	running.Wait()
	for _, free := range held {
		limiter.only().dispatcher.release(free, false)
	}
	limiter.Close()
	if places := client.ZCard(t.Context(), counterOf(check)).Val(); places != 0 || limiter.CorrectionsLost() != 0 {
		t.Errorf("%d places are held after all were given back, and %d corrections lost, want none", places, limiter.CorrectionsLost())
	}
	for i, receipt := range receipts {
		if receipt.renewal.Stop() {
			t.Errorf("receipt %d is still being renewed", i)
		}
	}
}

// TestLostCorrectionsAreCounted has the store gone, too many wait, and the limiter
// closed.
func TestLostCorrectionsAreCounted(t *testing.T) {
	t.Parallel()
	t.Run("store gone", func(t *testing.T) {
		t.Parallel()
		server := redistest.Start(t)
		limiter := newRedis(t, sidecarOptions(t, server.Addr()), patience)
		var receipts []*Receipt
		for i := range 10 {
			check := fixedWindowOf(fmt.Sprint(i), 1, ages)
			check.Correctable = true
			receipts = append(receipts, decide(t, limiter, check).Receipt)
		}
		server.Stop()
		for _, receipt := range receipts {
			receipt.Cancel()
		}
		awaitLost(t, limiter, 10)
	})
	t.Run("too many wait", func(t *testing.T) {
		t.Parallel()
		client := clientOf(t, redistest.Start(t))
		limiter := newRedis(t, client.Options(), patience)
		check := concurrencyOf("a", 1)
		receipt := decide(t, limiter, check).Receipt
		held := hold(t, limiter)
		// One call takes a few off, and waits for a connection.
		receipt.renew()
		awaitQueue(t, limiter, 1)
		for range mostCorrections + 7 {
			receipt.renew()
		}
		receipt.Cancel()
		awaitLost(t, limiter, 7)
		for _, free := range held {
			limiter.only().dispatcher.release(free, false)
		}
		limiter.Close()
		awaitLost(t, limiter, 7)
		// The one that gives the place back was kept until there was room.
		if places := client.ZCard(t.Context(), counterOf(check)).Val(); places != 0 {
			t.Errorf("%d places are held, want none: a place is given back, however many corrections wait", places)
		}
	})
	t.Run("limiter closed", func(t *testing.T) {
		t.Parallel()
		client := clientOf(t, redistest.Start(t))
		limiter := newRedis(t, client.Options(), patience)
		receipt := decide(t, limiter, concurrencyOf("a", 1)).Receipt
		limiter.Close()
		receipt.Cancel()
		awaitLost(t, limiter, 1)
	})
}

// awaitLost waits until exactly so many corrections were lost.
func awaitLost(t *testing.T, limiter *Redis, want int64) {
	t.Helper()
	await(t, func() error {
		if got := limiter.CorrectionsLost(); got != want {
			return fmt.Errorf("%d corrections were lost, want %d", got, want)
		}
		return nil
	})
}

// TestReceiptsLeaveNothingRunning must not be parallel: it looks at the goroutines of
// the whole process.
func TestReceiptsLeaveNothingRunning(t *testing.T) {
	server := redistest.Start(t)
	before := goleak.IgnoreCurrent()
	limiter := NewRedis(sidecarOptions(t, server.Addr()), "penstock", patience)
	limiter.Await(t.Context())
	var receipts []*Receipt
	for i := range 50 {
		receipts = append(receipts, decide(t, limiter, concurrencyOf(fmt.Sprint(i), 1)).Receipt)
	}
	for i, receipt := range receipts {
		receipt.renew()
		if i%2 == 0 {
			receipt.Cancel()
		} else {
			receipt.Settle(nil)
		}
	}
	limiter.Close()
	goleak.VerifyNone(t, before)
	if lost := limiter.CorrectionsLost(); lost != 0 {
		t.Errorf("%d corrections were lost, want none", lost)
	}
	for _, receipt := range receipts {
		if receipt.renewal.Stop() {
			t.Error("a receipt that was settled is still being renewed")
		}
	}
}
