// Copyright The Penstock Authors.
// SPDX-License-Identifier: Apache-2.0

package limiter

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/penstock-dev/penstock/test/redistest"
)

func TestBreakerOpensAfterFailuresInARow(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		outcomes []outcome
		wantOpen bool
	}{
		"four failures":               {outcomes: []outcome{failed, failed, failed, failed}},
		"five failures":               {outcomes: []outcome{failed, failed, failed, failed, failed}, wantOpen: true},
		"a success between":           {outcomes: []outcome{failed, failed, failed, succeeded, failed, failed}},
		"what tells nothing":          {outcomes: []outcome{silent, silent, silent, silent, silent, silent}},
		"silence does not interrupt":  {outcomes: []outcome{failed, failed, silent, failed, failed, failed}, wantOpen: true},
		"a late success changes none": {outcomes: []outcome{failed, failed, failed, failed, failed, succeeded}, wantOpen: true},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var b breaker
			opened := 0
			for _, result := range tc.outcomes {
				if b.record(result) {
					opened++
				}
			}
			if b.isOpen() != tc.wantOpen || (opened == 1) != tc.wantOpen {
				t.Errorf("open %t, opened %d times, want open %t", b.isOpen(), opened, tc.wantOpen)
			}
		})
	}
}

func TestOutcomes(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		err  error
		late bool
		want outcome
	}{
		"an answer":              {want: succeeded},
		"a late answer":          {late: true, want: succeeded},
		"a timeout":              {err: context.DeadlineExceeded, want: failed},
		"a timeout while paused": {err: context.DeadlineExceeded, late: true, want: silent},
		"any other failure":      {err: errors.New("x"), late: true, want: failed},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if got := outcomeOf(tc.err, tc.late); got != tc.want {
				t.Errorf("outcome %d, want %d", got, tc.want)
			}
		})
	}
}

func TestADeadStoreCostsNothingAndComesBack(t *testing.T) {
	t.Parallel()
	server := redistest.Start(t)
	limiter := newRedis(t, sidecarOptions(t, server.Addr()), 100*time.Millisecond)
	check := fixedWindowOf("a", 1_000_000, ages)
	warm(t, limiter)
	server.Pause()
	failures := 0
	for ; !limiter.Open() && failures < 100; failures++ {
		if _, err := limiter.Decide(t.Context(), "shop", []Check{check}); err == nil {
			t.Fatal("a paused store decided")
		}
	}
	if !limiter.Open() {
		t.Fatalf("after %d failures the breaker is closed", failures)
	}
	began := time.Now()
	for range 1000 {
		if _, err := limiter.Decide(t.Context(), "shop", []Check{check}); !errors.Is(err, ErrBreakerOpen) {
			t.Fatalf("error %v, want ErrBreakerOpen", err)
		}
	}
	if took := time.Since(began); took > 100*time.Millisecond {
		t.Errorf("1000 decisions with an open breaker took %v", took)
	}
	server.Resume()
	requireCloses(t, limiter)
	decide(t, limiter, check)
}

// TestAHangingStoreIsGivenUpSoon has many requests meet a store that hangs.
func TestAHangingStoreIsGivenUpSoon(t *testing.T) {
	t.Parallel()
	const callers, deadline = 64, 100 * time.Millisecond
	server := redistest.Start(t)
	limiter := newRedis(t, sidecarOptions(t, server.Addr()), deadline)
	var made, waited atomic.Int64
	ended := limiter.only().dispatcher.ended
	limiter.only().dispatcher.ended = func(c *call, err error) {
		made.Add(1)
		ended(c, err)
	}
	awaitConnections(t, limiter)
	server.Pause()
	defer server.Resume()
	var running sync.WaitGroup
	for caller := range callers {
		check := fixedWindowOf(fmt.Sprint(caller), 1_000_000, ages)
		running.Go(func() {
			for range 1000 {
				began := time.Now()
				_, err := limiter.Decide(t.Context(), "shop", []Check{check})
				if errors.Is(err, ErrBreakerOpen) {
					return
				}
				if time.Since(began) > deadline/2 {
					waited.Add(1)
				}
			}
			t.Error("1000 requests of one caller, and the store is still asked")
		})
	}
	running.Wait()
	if made.Load() > 20 || waited.Load() > 200 {
		t.Errorf("%d calls and %d requests waited until the store was given up, want at most 20 and 200", made.Load(), waited.Load())
	}
}

// TestAStoreThatStartsLateIsFound begins with a store that is down.
func TestAStoreThatStartsLateIsFound(t *testing.T) {
	t.Parallel()
	server := redistest.Start(t)
	server.Stop()
	limiter := newRedis(t, sidecarOptions(t, server.Addr()), patience)
	check := fixedWindowOf("a", 1_000_000, ages)
	for range opensAfter {
		if _, err := limiter.Decide(t.Context(), "shop", []Check{check}); ErrorKind(err) != KindConnection {
			t.Errorf("error %v, want one of kind connection", err)
		}
	}
	if !limiter.Open() {
		t.Errorf("after %d failures the breaker is closed", opensAfter)
	}
	server.Restart()
	requireCloses(t, limiter)
	decide(t, limiter, check)
}

// TestTheProbeWrites keeps the breaker open on a store that answers PING and
// reads, but takes no writes.
func TestTheProbeWrites(t *testing.T) {
	t.Parallel()
	server := redistest.Start(t)
	admin := clientOf(t, server)
	limiter := newRedis(t, server.Client(t).Options(), patience)
	if err := admin.ReplicaOf(t.Context(), "127.0.0.1", "1").Err(); err != nil {
		t.Fatal(err)
	}
	limiter.only().breaker.open = true
	if err := limiter.only().probe(t.Context(), "shop"); ErrorKind(err) != KindReadOnly {
		t.Errorf("a probe of a read-only store: %v, want an error of kind readonly", err)
	}
	if err := admin.ReplicaOf(t.Context(), "NO", "ONE").Err(); err != nil {
		t.Fatal(err)
	}
	awaitConnections(t, limiter)
	if err := limiter.only().probe(t.Context(), "shop"); err != nil {
		t.Errorf("a probe of a working store: %v", err)
	}
	limiter.only().startProbe("shop")
	requireCloses(t, limiter)
}

// requireCloses waits until the breaker is closed.
func requireCloses(t *testing.T, limiter *Redis) {
	t.Helper()
	timeout := time.After(patience)
	ticker := time.NewTicker(5 * time.Millisecond)
	defer ticker.Stop()
	for limiter.Open() {
		select {
		case <-ticker.C:
		case <-timeout:
			t.Fatalf("the breaker is open %v after the store came back", patience)
		}
	}
}
