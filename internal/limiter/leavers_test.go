// Copyright The Penstock Authors.
// SPDX-License-Identifier: Apache-2.0

package limiter

import (
	"sync"
	"testing"
	"time"

	"github.com/penstock-dev/penstock/test/redistest"
)

// TestWhoLeavesAQueueGivesBackItsSlot has some of seven requests leave a queue of nine,
// in an order. Only what stands before who stays is kept.
func TestWhoLeavesAQueueGivesBackItsSlot(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		// leave are the requests in the order in which they leave; the first went on.
		leave []int
		cost  int64
		want  int64
	}{
		"newest first":               {leave: []int{6, 5, 4, 3, 2, 1}, cost: 1, want: 8},
		"oldest first":               {leave: []int{1, 2, 3, 4, 5, 6}, cost: 1, want: 8},
		"any order":                  {leave: []int{3, 6, 1, 5, 2, 4}, cost: 1, want: 8},
		"one stays":                  {leave: []int{1, 6, 2, 4, 5}, cost: 1, want: 5},
		"the last stays":             {leave: []int{5, 4, 3, 2, 1}, cost: 1, want: 2},
		"two at once of which one":   {leave: []int{2, 3}, cost: 1, want: 2},
		"with a larger cost, oldest": {leave: []int{1, 2, 3}, cost: 2, want: 7},
	}
	for store, limiter := range clockedLimiters(t) {
		for name, tc := range tests {
			t.Run(store+"/"+name, func(t *testing.T) {
				check := costing(leakyBucketOf(name, 7, 9, time.Second), tc.cost)
				limiter.set(t, present)
				var receipts []*Receipt
				for range 7 {
					if decision := decide(t, limiter, check); decision.Allowed {
						receipts = append(receipts, decision.Receipt)
					}
				}
				for _, i := range tc.leave {
					receipts[i].book = limiter.book()
					receipts[i].Cancel()
				}
				if got := decide(t, limiter, costing(check, 0)).Limits[0].Remaining; got != tc.want {
					t.Errorf("%d remain, want %d", got, tc.want)
				}
			})
		}
	}
}

// TestASlotThatIsTakenAgainIsNotGivenBack has a request come before the last one leaves.
func TestASlotThatIsTakenAgainIsNotGivenBack(t *testing.T) {
	t.Parallel()
	for store, limiter := range clockedLimiters(t) {
		check := leakyBucketOf(store, 1, 9, time.Second)
		limiter.set(t, present)
		enter := func(wantDelay time.Duration) *Receipt {
			t.Helper()
			decision := decide(t, limiter, check)
			if decision.Delay != wantDelay {
				t.Errorf("%s: goes on after %v, want %v", store, decision.Delay, wantDelay)
			}
			decision.Receipt.book = limiter.book()
			return decision.Receipt
		}
		enter(0)
		first, second := enter(time.Second), enter(2*time.Second)
		first.Cancel()
		third := enter(3 * time.Second)
		second.Cancel()
		// The third still goes on in its turn, and after it who comes now.
		fourth := enter(4 * time.Second)
		fourth.Cancel()
		fourth = enter(4 * time.Second)
		third.Cancel()
		fourth.Cancel()
		// The first slot was given back with the others, once: whoever took it keeps it.
		enter(time.Second)
		enter(2 * time.Second).Cancel()
		enter(2 * time.Second)
	}
}

// TestManyWhoLeaveAtOnce have their slots given back by a real store, whatever the order
// in which they are noticed.
func TestManyWhoLeaveAtOnce(t *testing.T) {
	t.Parallel()
	client := clientOf(t, redistest.Start(t))
	limiter := newRedis(t, client.Options(), patience)
	check := leakyBucketOf("a", 10, 500, time.Hour)
	receipts := make([]*Receipt, 400)
	for i := range receipts {
		receipts[i] = decide(t, limiter, check).Receipt
	}
	var running sync.WaitGroup
	for _, receipt := range receipts[1:] {
		running.Go(receipt.Cancel)
	}
	running.Wait()
	limiter.Close()
	again := newRedis(t, client.Options(), patience)
	if got := decide(t, again, costing(check, 0)).Limits[0].Remaining; got != 499 || limiter.CorrectionsLost() != 0 {
		t.Errorf("%d of 500 remain and %d corrections were lost, want 499 and 0", got, limiter.CorrectionsLost())
	}
}

// TestLeaversAreBounded remembers more than there is room for.
func TestLeaversAreBounded(t *testing.T) {
	t.Parallel()
	check := leakyBucketOf("a", 1, 9, time.Second)
	made, err := planFor(&check, time.Now)
	if err != nil {
		t.Fatal(err)
	}
	var l leavers
	add := func(charged int64, until time.Time) {
		l.add(correction{kind: giveBack, plan: made, charged: charged, until: until})
	}
	now := time.Now()
	for i := range int64(mostLeavers) {
		until := now.Add(time.Hour)
		if i%2 == 0 {
			until = now.Add(-time.Hour)
		}
		add(i, until)
	}
	if add(-1, now.Add(time.Hour)); len(l.byEnd) != mostLeavers/2+1 {
		t.Errorf("%d are remembered, want the %d whose slots are not over and one more", len(l.byEnd), mostLeavers/2)
	}
	for i := range int64(2 * mostLeavers) {
		add(mostLeavers+i, now.Add(time.Hour))
	}
	if len(l.byEnd) != mostLeavers {
		t.Errorf("%d are remembered, want %d", len(l.byEnd), mostLeavers)
	}
}
