// Copyright The Penstock Authors.
// SPDX-License-Identifier: Apache-2.0

package limiter

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/penstock-dev/penstock/test/redistest"
)

// TestWhoWasSentLooksOnceMore has the answer to a request come some time after the
// request's deadline, which is 25 ms.
func TestWhoWasSentLooksOnceMore(t *testing.T) {
	t.Parallel()
	const deadline = 25 * time.Millisecond
	tests := map[string]struct {
		// answered is when the call ends that has the request.
		answered time.Duration
		queued   bool
		leaves   bool
		wantErr  error
		wantTook time.Duration
	}{
		"in time":        {answered: deadline - 1, wantTook: deadline - 1},
		"a moment late":  {answered: deadline + lateness - 1, wantTook: deadline + lateness - 1},
		"too late":       {answered: deadline + lateness + 1, wantErr: context.DeadlineExceeded, wantTook: deadline + lateness},
		"never sent":     {answered: deadline + 1, queued: true, wantErr: context.DeadlineExceeded, wantTook: deadline},
		"client is gone": {answered: deadline - 1, leaves: true, wantErr: context.Canceled, wantTook: time.Millisecond},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				ctx, leave := context.WithCancel(t.Context())
				defer leave()
				began := time.Now()
				q := &request{ctx: ctx, deadline: began.Add(deadline), turn: make(chan *call, 1), queued: tc.queued}
				time.AfterFunc(tc.answered, func() { q.turn <- nil })
				if tc.leaves {
					time.AfterFunc(time.Millisecond, leave)
				}
				err := new(dispatcher).await(q)
				if took := time.Since(began); !errors.Is(err, tc.wantErr) || took != tc.wantTook {
					t.Errorf("ended after %v with %v, want %v with %v", took, err, tc.wantTook, tc.wantErr)
				}
				if q.queued {
					t.Error("it is still queued")
				}
				synctest.Wait()
			})
		})
	}
}

// TestALateCallSpoilsNoConnection has no time left when the request comes, and when its
// turn does: this process got no CPU.
func TestALateCallSpoilsNoConnection(t *testing.T) {
	t.Parallel()
	limiter := newRedis(t, sidecarOptions(t, redistest.Start(t).Addr()), patience)
	warm(t, limiter)
	awaitConnections(t, limiter)
	n := limiter.only()
	over := func() *request {
		p := &part{names: []string{"penstock:late"}, plans: []plan{newPlaces(terms{}, 1, 1)}}
		return &request{ctx: t.Context(), namespace: "shop", deadline: time.Now(), parts: []*part{p}}
	}
	if err := n.ask(over()); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("error %v for a request that comes too late, want the deadline", err)
	}
	q := over()
	free, _, err := n.dispatcher.freeOrQueue(q)
	if err != nil {
		t.Fatal(err)
	}
	n.dispatcher.make(callOf(free, q))
	if !errors.Is(q.err, context.DeadlineExceeded) {
		t.Errorf("error %v for a turn that comes too late, want the deadline", q.err)
	}
	awaitNode(t, n)
	n.dispatcher.mu.Lock()
	defer n.dispatcher.mu.Unlock()
	if n.dispatcher.open != connections || n.dispatcher.underWay != 0 {
		t.Errorf("%d connections are open, %d requests under way; want %d and none", n.dispatcher.open, n.dispatcher.underWay, connections)
	}
	n.breaker.mu.Lock()
	defer n.breaker.mu.Unlock()
	if n.breaker.failures != 0 {
		t.Errorf("the store failed %d times, but was not asked", n.breaker.failures)
	}
}
