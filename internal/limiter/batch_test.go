// Copyright The Penstock Authors.
// SPDX-License-Identifier: Apache-2.0

package limiter

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/penstock-dev/penstock/test/model"
	"github.com/penstock-dev/penstock/test/redistest"
)

// batch queues requests while every connection is held, then lets the connections
// go, so that the requests share calls. It returns what became of each, in order.
func batch(t testing.TB, limiter *Redis, requests [][]Check) ([]Decision, []error) {
	t.Helper()
	held := hold(t, limiter)
	decisions, errs := make([]Decision, len(requests)), make([]error, len(requests))
	var running sync.WaitGroup
	for i, checks := range requests {
		running.Go(func() { decisions[i], errs[i] = limiter.Decide(t.Context(), "shop", checks) })
		awaitQueue(t, limiter, i+1)
	}
	// Only one of them, so that there is no other way than one call after another.
	limiter.only().dispatcher.release(held[0], false)
	running.Wait()
	for _, free := range held[1:] {
		limiter.only().dispatcher.release(free, false)
	}
	return decisions, errs
}

// hold takes all connections, as calls that are under way do.
func hold(t testing.TB, limiter *Redis) []connection {
	t.Helper()
	awaitConnections(t, limiter)
	d := &limiter.only().dispatcher
	d.mu.Lock()
	defer d.mu.Unlock()
	held := slices.Clone(d.idle)
	d.idle = nil
	return held
}

func awaitQueue(t testing.TB, limiter *Redis, want int) {
	t.Helper()
	await(t, func() error {
		limiter.only().dispatcher.mu.Lock()
		defer limiter.only().dispatcher.mu.Unlock()
		if waiting := len(limiter.only().dispatcher.queue); waiting != want {
			return fmt.Errorf("%d requests wait, want %d", waiting, want)
		}
		return nil
	})
}

// awaitConnections waits until all connections are open and idle.
func awaitConnections(t testing.TB, limiter *Redis) {
	t.Helper()
	await(t, func() error {
		limiter.only().dispatcher.mu.Lock()
		defer limiter.only().dispatcher.mu.Unlock()
		if idle := len(limiter.only().dispatcher.idle); idle != connections {
			return fmt.Errorf("%d connections are idle, want %d", idle, connections)
		}
		return nil
	})
}

// await looks again and again until there is no error.
func await(t testing.TB, look func() error) {
	t.Helper()
	timeout := time.After(patience)
	ticker := time.NewTicker(100 * time.Microsecond)
	defer ticker.Stop()
	for {
		err := look()
		if err == nil {
			return
		}
		select {
		case <-ticker.C:
		case <-timeout:
			t.Fatalf("after %v: %v", patience, err)
		}
	}
}

func TestRequestsThatWaitShareACall(t *testing.T) {
	t.Parallel()
	client := clientOf(t, redistest.Start(t))
	limiter := newRedis(t, client.Options(), patience)
	warm(t, limiter)
	tests := map[string]struct {
		requests, limits int
		wantCalls        int
	}{
		"one":                        {requests: 1, limits: 1, wantCalls: 1},
		"as many as a call takes":    {requests: 64, limits: 1, wantCalls: 1},
		"one more":                   {requests: 65, limits: 1, wantCalls: 2},
		"checks count, not requests": {requests: 20, limits: 5, wantCalls: 2},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			requests := make([][]Check, tc.requests)
			for i := range requests {
				for j := range tc.limits {
					requests[i] = append(requests[i], fixedWindowOf(fmt.Sprint(name, i, j), int64(100+i), ages))
				}
			}
			before := calls(t, client, "evalsha")
			decisions, errs := batch(t, limiter, requests)
			if made := calls(t, client, "evalsha") - before; made != tc.wantCalls {
				t.Errorf("%d calls, want %d", made, tc.wantCalls)
			}
			for i, decision := range decisions {
				if errs[i] != nil || len(decision.Limits) != tc.limits || decision.Limits[0].Remaining != int64(99+i) {
					t.Errorf("request %d: %+v, %v, want its own answer", i, decision, errs[i])
				}
			}
		})
	}
}

// TestABatchIsLikeOneAfterTheOther compares requests that share a call, and often
// counters, with the model deciding on one after the other.
func TestABatchIsLikeOneAfterTheOther(t *testing.T) {
	t.Parallel()
	limiter := clockedLimiters(t)["redis"].(*clockedRedis)
	trace := 0
	rapid.Check(t, func(r *rapid.T) {
		trace++
		reference := model.New()
		clients := make([][]Check, 3)
		for i := range clients {
			clients[i] = drawChecks(r, fmt.Sprint("batch", trace, i))
		}
		now := present + rapid.Int64Range(0, 1_000_000).Draw(r, "start")
		for batchNumber := range rapid.IntRange(1, 3).Draw(r, "batches") {
			now += rapid.Int64Range(-1_000_000, 1_000_000).Draw(r, "step")
			limiter.set(t, now)
			requests := make([][]Check, rapid.IntRange(1, 20).Draw(r, "requests"))
			for i := range requests {
				requests[i] = slices.Clone(clients[rapid.IntRange(0, 2).Draw(r, "client")])
				for j := range requests[i] {
					requests[i][j].Cost = rapid.Int64Range(0, 3).Draw(r, "cost")
				}
			}
			got, errs := batch(t, limiter.Redis, requests)
			for i, checks := range requests {
				diff := compare(reference, now, fmt.Sprint(batchNumber, i), checks, got[i])
				if errs[i] != nil || diff != "" {
					r.Fatalf("request %d of %d on %s: %v (-model +got):\n%s", i+1, len(requests), describe(checks), errs[i], diff)
				}
				got[i].Receipt.abandon()
			}
		}
	})
}

func TestACorruptCounterFailsOnlyItsRequestOfABatch(t *testing.T) {
	t.Parallel()
	client := clientOf(t, redistest.Start(t))
	limiter := newRedis(t, client.Options(), patience)
	good, bad := fixedWindowOf("good", 9, ages), tokenBucketOf("bad", 9, 9, time.Hour)
	if err := client.Set(t.Context(), counterOf(bad), "garbage", 0).Err(); err != nil {
		t.Fatal(err)
	}
	decisions, errs := batch(t, limiter, [][]Check{{good}, {good, bad}, {good}})
	for i, wantRemaining := range map[int]int64{0: 8, 2: 7} {
		if errs[i] != nil || decisions[i].Limits[0].Remaining != wantRemaining {
			t.Errorf("request %d: %+v, %v, want %d left", i+1, decisions[i], errs[i], wantRemaining)
		}
	}
	if ErrorKind(errs[1]) != KindScript {
		t.Errorf("the request with the corrupt counter: %v, want an error of kind script", errs[1])
	}
}

func TestALostReplyFailsTheBatchAndChargesOnce(t *testing.T) {
	t.Parallel()
	server := redistest.Start(t)
	direct := newRedis(t, clientOf(t, server).Options(), patience)
	between := startRelay(t, server.Addr())
	through := newRedis(t, sidecarOptions(t, between.listener.Addr().String()), patience)
	warm(t, through)
	for cut := range int64(6) {
		shared := fixedWindowOf(fmt.Sprint("shared", cut), 99, ages)
		requests := make([][]Check, 10)
		for i := range requests {
			requests[i] = []Check{shared, fixedWindowOf(fmt.Sprint("own", cut, i), 9, ages)}
		}
		awaitConnections(t, through)
		between.cutting.Store(cut)
		_, errs := batch(t, through, requests)
		for i, err := range errs {
			if ErrorKind(err) != KindConnection {
				t.Errorf("reply cut after %d bytes: request %d: %v, want an error of kind connection", cut, i, err)
			}
		}
		if left := decide(t, direct, costing(shared, 0)).Limits[0].Remaining; left != 89 {
			t.Errorf("reply cut after %d bytes: %d left of 99 after 10 requests: each is charged once", cut, left)
		}
	}
}

func TestWhoLeftOrIsLateIsNotSent(t *testing.T) {
	t.Parallel()
	limiter := newRedis(t, clientOf(t, redistest.Start(t)).Options(), patience)
	left, leave := context.WithCancel(t.Context())
	late, stop := context.WithDeadline(t.Context(), time.Now().Add(50*time.Millisecond))
	defer stop()
	check := fixedWindowOf("a", 9, ages)
	held := hold(t, limiter)
	errs := make([]error, 3)
	var running sync.WaitGroup
	for i, ctx := range []context.Context{left, late, t.Context()} {
		running.Go(func() { _, errs[i] = limiter.Decide(ctx, "shop", []Check{check}) })
		awaitQueue(t, limiter, i+1)
	}
	leave()
	<-late.Done()
	await(t, func() error {
		if !limiter.only().dispatcher.queuedOnly(2) {
			return errors.New("a request that is over still waits")
		}
		return nil
	})
	for _, free := range held {
		limiter.only().dispatcher.release(free, false)
	}
	running.Wait()
	if !errors.Is(errs[0], context.Canceled) || ErrorKind(errs[1]) != KindTimeout || errs[2] != nil {
		t.Errorf("errors %v, want: cancelled, a timeout, none", errs)
	}
	if _, err := limiter.Decide(left, "shop", []Check{check}); !errors.Is(err, context.Canceled) {
		t.Errorf("a request whose client has left: %v, want context.Canceled", err)
	}
	if remaining := decide(t, limiter, costing(check, 0)).Limits[0].Remaining; remaining != 8 {
		t.Errorf("%d left, want 8: only one request was sent", remaining)
	}
}

// queuedOnly says that of the queue only the request at this place still waits.
func (d *dispatcher) queuedOnly(place int) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	for i, q := range d.queue {
		if q.queued != (i == place) {
			return false
		}
	}
	return true
}

// TestALeaverDoesNotSpoilTheBatch has the client leave whose goroutine makes the
// call for all.
func TestALeaverDoesNotSpoilTheBatch(t *testing.T) {
	t.Parallel()
	server := redistest.Start(t)
	limiter := newRedis(t, clientOf(t, server).Options(), patience)
	warm(t, limiter)
	check := fixedWindowOf("a", 99, ages)
	held := hold(t, limiter)
	left, leave := context.WithCancel(t.Context())
	errs := make([]error, 10)
	var running sync.WaitGroup
	for i := range errs {
		ctx := t.Context()
		if i%2 == 0 {
			ctx = left
		}
		running.Go(func() { _, errs[i] = limiter.Decide(ctx, "shop", []Check{check}) })
		awaitQueue(t, limiter, i+1)
	}
	server.Pause()
	limiter.only().dispatcher.release(held[0], false)
	leave()
	server.Resume()
	running.Wait()
	limiter.only().dispatcher.release(held[1], false)
	for i, err := range errs {
		if i%2 == 1 && err != nil {
			t.Errorf("request %d: %v, though only others left", i, err)
		}
	}
	if remaining := decide(t, limiter, costing(check, 0)).Limits[0].Remaining; remaining != 89 {
		t.Errorf("%d left, want 89: what was sent is charged, also for who left", remaining)
	}
}

// TestCallsShareWhatWaits has the next call leave something to those under way, so
// that the store is never without work.
func TestCallsShareWhatWaits(t *testing.T) {
	t.Parallel()
	tests := map[string]struct{ waiting, underWay, open, want int }{
		"nothing is under way":           {waiting: 10, underWay: 0, open: 2, want: 10},
		"a small call is under way":      {waiting: 61, underWay: 1, open: 2, want: 31},
		"a large call is under way":      {waiting: 10, underWay: 30, open: 2, want: 10},
		"one waits":                      {waiting: 1, underWay: 1, open: 2, want: 1},
		"nobody waits":                   {waiting: 0, underWay: 1, open: 2, want: 0},
		"more wait than two calls take":  {waiting: 200, underWay: 64, open: 2, want: 64},
		"the other connections are lost": {waiting: 10, underWay: 0, open: 1, want: 10},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d := dispatcher{open: tc.open, underWay: tc.underWay}
			check := part{names: []string{"a"}, plans: []plan{&fixedWindow{requests: 1, window: 1, cost: 1}}}
			for range tc.waiting {
				d.queue = append(d.queue, &request{
					ctx: t.Context(), parts: []*part{&check}, deadline: time.Now().Add(time.Hour), queued: true,
				})
			}
			if got := len(d.nextRequests()); got != tc.want {
				t.Errorf("the next call has %d requests, want %d", got, tc.want)
			}
			if left := len(d.queue); left != tc.waiting-tc.want {
				t.Errorf("%d are left, want %d", left, tc.waiting-tc.want)
			}
		})
	}
}

// TestNothingIsUnderWayAtTheEnd counts right through answers, failures and leavers.
func TestNothingIsUnderWayAtTheEnd(t *testing.T) {
	t.Parallel()
	server := redistest.Start(t)
	between := startRelay(t, server.Addr())
	limiter := newRedis(t, sidecarOptions(t, between.listener.Addr().String()), patience)
	warm(t, limiter)
	awaitConnections(t, limiter)
	var running sync.WaitGroup
	for i := range 64 {
		ctx, leave := context.WithCancel(t.Context())
		defer leave()
		running.Go(func() {
			for range 20 {
				_, _ = limiter.Decide(ctx, "shop", []Check{fixedWindowOf(fmt.Sprint(i), 1_000_000, ages)})
			}
		})
		if i%16 == 15 {
			between.cutting.Store(3)
			leave()
		}
	}
	running.Wait()
	awaitConnections(t, limiter)
	if left := limiter.only().dispatcher.underWay; left != 0 {
		t.Errorf("%d requests are under way, want none", left)
	}
}
