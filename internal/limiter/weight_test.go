// Copyright The Penstock Authors.
// SPDX-License-Identifier: Apache-2.0

package limiter

import (
	"fmt"
	"testing"
	"time"

	"github.com/penstock-dev/penstock/test/redistest"
)

// TestHeavyRequestsDoNotShareACall has requests queue of which each writes a lot: one
// call of all of them would keep the store from everybody for a second.
func TestHeavyRequestsDoNotShareACall(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		check Check
		// Of 32 requests, and of the corrections that give back what they were charged.
		wantCalls, wantCorrections int
	}{
		"places": {check: costing(concurrencyOf("a", 100), 100), wantCalls: 32, wantCorrections: 32},
		"log":    {check: costing(slidingWindowLogOf("a", 10_000, time.Hour), 10_000), wantCalls: 32, wantCorrections: 32},
		"bucket": {check: costing(tokenBucketOf("a", 10_000, 10_000, time.Hour), 10_000), wantCalls: 1, wantCorrections: 1},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			client := clientOf(t, redistest.Start(t))
			limiter := newRedis(t, client.Options(), patience)
			first := fixedWindowOf("warm", 9, ages)
			first.Correctable = true
			decide(t, limiter, first).Receipt.Cancel()
			await(t, func() error {
				if known := calls(t, client, "eval"); known != 2 {
					return fmt.Errorf("Redis knows %d scripts, want 2", known)
				}
				return nil
			})
			tc.check.Correctable = name != "places"
			held := hold(t, limiter)
			receipts := make(chan *Receipt)
			for i := range 32 {
				go func() {
					own := tc.check
					own.Identity = fmt.Sprint("client", i)
					decision, err := limiter.Decide(t.Context(), "shop", []Check{own})
					if err != nil || !decision.Allowed {
						t.Errorf("decision %+v, %v, want admitted", decision, err)
					}
					receipts <- decision.Receipt
				}()
			}
			awaitQueue(t, limiter, 32)
			before := calls(t, client, "evalsha")
			for _, free := range held {
				limiter.only().dispatcher.release(free, false)
			}
			var all []*Receipt
			for range 32 {
				all = append(all, <-receipts)
			}
			// Two connections may each have taken a share of those that are light.
			if got := calls(t, client, "evalsha") - before; got < tc.wantCalls || got > tc.wantCalls+1 {
				t.Errorf("%d calls, want %d", got, tc.wantCalls)
			}
			held = hold(t, limiter)
			before = calls(t, client, "evalsha")
			for _, receipt := range all {
				receipt.Cancel()
			}
			awaitQueue(t, limiter, 1)
			for _, free := range held {
				limiter.only().dispatcher.release(free, false)
			}
			limiter.Close()
			// The first one may have gone alone.
			if got := calls(t, client, "evalsha") - before; got < tc.wantCorrections || got > tc.wantCorrections+1 {
				t.Errorf("%d calls for corrections, want %d", got, tc.wantCorrections)
			}
			if lost := limiter.CorrectionsLost(); lost != 0 {
				t.Errorf("%d corrections were lost", lost)
			}
		})
	}
}
