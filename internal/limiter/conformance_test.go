// Copyright The Penstock Authors.
// SPDX-License-Identifier: Apache-2.0

package limiter

import (
	"maps"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/penstock-dev/penstock/internal/embedded"
	"github.com/penstock-dev/penstock/test/redistest"
)

// ages is a window that no test run sees the end of.
const ages = 400 * 24 * time.Hour

// limiters are all that decide by counting, on the real time.
func limiters(t *testing.T) map[string]Decider {
	t.Helper()
	remembering := newRedis(t, clientOf(t, redistest.Start(t)).Options(), patience)
	// One that remembers nothing, so that the script is asked every time.
	onRedis := newRedis(t, clientOf(t, redistest.Start(t)).Options(), patience)
	onRedis.remembered = nil
	store, err := embedded.Start("127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(store.Close)
	client := redis.NewClient(&redis.Options{Addr: store.Addr(), Protocol: 2, ContextTimeoutEnabled: true})
	t.Cleanup(func() { _ = client.Close() })
	t.Cleanup(func() { redistest.RequireExpiries(t, client, "*") })
	onEmbedded := newRedis(t, client.Options(), patience)
	onEmbedded.remembered = nil
	return map[string]Decider{"redis": onRedis, "redis, remembering refusals": remembering, "embedded": onEmbedded, "memory": NewMemory(nil, 0)}
}

// conforms runs a test on every limiter.
func conforms(t *testing.T, test func(*testing.T, Decider)) {
	t.Helper()
	t.Parallel()
	for name, limiter := range limiters(t) {
		t.Run(name, func(t *testing.T) { test(t, limiter) })
	}
}

// ninesOf are limits that admit nine requests of a client, and no more while a
// test runs.
func ninesOf(client string) map[string]Check {
	return map[string]Check{
		"bucket": tokenBucketOf(client, 1, 9, ages), "window": fixedWindowOf(client, 9, ages),
		"counter": slidingWindowCounterOf(client, 9, ages), "log": slidingWindowLogOf(client, 9, ages),
	}
}

func TestNoLimitsAdmit(t *testing.T) {
	conforms(t, func(t *testing.T, limiter Decider) {
		if got := decide(t, limiter); !got.Allowed || len(got.Limits) != 0 {
			t.Errorf("decision without limits: %+v, want admitted", got)
		}
	})
}

func TestExactlyTheBurstIsAdmitted(t *testing.T) {
	conforms(t, func(t *testing.T, limiter Decider) {
		for name, check := range ninesOf("a") {
			for i := range int64(12) {
				got := decide(t, limiter, check)
				wantRemaining := max(0, 8-i)
				if got.Allowed != (i < 9) || got.Limits[0].Remaining != wantRemaining || got.Source != Store {
					t.Errorf("%s, request %d: %+v, want allowed %t with %d left", name, i+1, got, i < 9, wantRemaining)
				}
				if got.Allowed == (got.RetryAfter > 0) {
					t.Errorf("%s, request %d: allowed %t with RetryAfter %v", name, i+1, got.Allowed, got.RetryAfter)
				}
			}
		}
	})
}

func TestClientsAndNamespacesAreApart(t *testing.T) {
	conforms(t, func(t *testing.T, limiter Decider) {
		check := fixedWindowOf("a", 1, ages)
		decide(t, limiter, check)
		if got := decide(t, limiter, fixedWindowOf("b", 1, ages)); !got.Allowed {
			t.Error("another client is refused")
		}
		if got, err := limiter.Decide(t.Context(), "office", []Check{check}); err != nil || !got.Allowed {
			t.Errorf("another namespace: %+v, %v, want admitted", got, err)
		}
	})
}

func TestRefusalChargesNothing(t *testing.T) {
	conforms(t, func(t *testing.T, limiter Decider) {
		narrow := fixedWindowOf("a", 1, ages)
		checks := append(slices.Collect(maps.Values(ninesOf("b"))), narrow)
		decide(t, limiter, narrow)
		for range 5 {
			got := decide(t, limiter, checks...)
			if got.Allowed || got.Limits[0].Identity != narrow.Identity || got.Limits[0].Allowed {
				t.Fatalf("decision %+v, want refused by the limit of 1", got)
			}
			for _, state := range got.Limits[1:] {
				if !state.Allowed || state.Remaining != 9 || state.RetryAfter != 0 || state.ResetAfter != 0 {
					t.Errorf("the refusal changed another limit: %+v, want it unused", state)
				}
			}
		}
	})
}

func TestCostCounts(t *testing.T) {
	conforms(t, func(t *testing.T, limiter Decider) {
		for name, check := range ninesOf("a") {
			steps := []struct {
				cost, wantRemaining int64
				wantAllowed         bool
				wantNever           bool
			}{
				{cost: 0, wantAllowed: true, wantRemaining: 9},
				{cost: 10, wantNever: true, wantRemaining: 9},
				{cost: 6, wantAllowed: true, wantRemaining: 3},
				{cost: 4, wantRemaining: 3},
				{cost: 3, wantAllowed: true, wantRemaining: 0},
				{cost: 0, wantAllowed: true, wantRemaining: 0},
				{cost: 1, wantRemaining: 0},
			}
			for i, step := range steps {
				got := decide(t, limiter, costing(check, step.cost))
				state := got.Limits[0]
				if got.Allowed != step.wantAllowed || got.Never != step.wantNever || state.Never != step.wantNever || state.Remaining != step.wantRemaining {
					t.Errorf("%s, step %d: %+v, want %+v", name, i+1, got, step)
				}
				if got.Never && got.RetryAfter != 0 {
					t.Errorf("%s, step %d: RetryAfter %v for what is never admitted", name, i+1, got.RetryAfter)
				}
			}
		}
	})
}

func TestALimitMetTwiceIsChargedOnce(t *testing.T) {
	conforms(t, func(t *testing.T, limiter Decider) {
		check := fixedWindowOf("a", 9, ages)
		got := decide(t, limiter, check, costing(check, 3), check)
		if len(got.Limits) != 1 || got.Limits[0].Remaining != 6 {
			t.Errorf("decision %+v, want one limit with 6 left", got)
		}
	})
}

func TestWaitingRetryAfterAdmits(t *testing.T) {
	conforms(t, func(t *testing.T, limiter Decider) {
		for name, check := range map[string]Check{
			"bucket": tokenBucketOf("a", 3, 1, 100*time.Millisecond), "window": fixedWindowOf("a", 1, 40*time.Millisecond),
			"counter": slidingWindowCounterOf("a", 1, 40*time.Millisecond), "log": slidingWindowLogOf("a", 1, 40*time.Millisecond),
		} {
			got := decide(t, limiter, check)
			for i := 0; got.Allowed && i < 1000; i++ {
				got = decide(t, limiter, check)
			}
			if got.Allowed {
				t.Fatalf("%s: 1000 requests in a row were admitted", name)
			}
			<-time.After(got.RetryAfter)
			if again := decide(t, limiter, check); !again.Allowed {
				t.Errorf("%s: refused after waiting %v: %+v", name, got.RetryAfter, again)
			}
		}
	})
}

func TestBadChecksAreErrors(t *testing.T) {
	conforms(t, func(t *testing.T, limiter Decider) {
		unknown := fixedWindowOf("a", 1, ages)
		unknown.Limit.Algorithm = "Guess"
		for want, check := range map[string]Check{
			"names no limit":    {},
			"cost -1":           costing(fixedWindowOf("a", 1, ages), -1),
			"requests 0":        fixedWindowOf("a", 0, ages),
			"window of 0":       fixedWindowOf("a", 1, 0),
			"burst 0":           tokenBucketOf("a", 1, 0, ages),
			"over 10 years":     tokenBucketOf("a", 1, 10, ages),
			`algorithm "Guess"`: unknown,
		} {
			if _, err := limiter.Decide(t.Context(), "shop", []Check{check}); err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("error %v, want one with %q", err, want)
			}
		}
	})
}

// TestReplicasShareOneCount has many sidecars ask at once, each with connections
// of its own, for limits that overlap in different orders.
func TestReplicasShareOneCount(t *testing.T) {
	t.Parallel()
	server := redistest.Start(t)
	clientOf(t, server)
	store, err := embedded.Start("127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(store.Close)
	for name, addr := range map[string]string{"redis": server.Addr(), "embedded": store.Addr()} {
		t.Run(name, func(t *testing.T) { testReplicas(t, addr) })
	}
}

func testReplicas(t *testing.T, addr string) {
	t.Helper()
	const replicas, requests, burst = 8, 100, 97
	checks := []Check{
		tokenBucketOf("a", 1, burst, 4*24*time.Hour), fixedWindowOf("a", burst, ages), slidingWindowCounterOf("a", burst, ages),
		slidingWindowLogOf("a", burst, ages),
	}
	var admitted atomic.Int64
	var running sync.WaitGroup
	for replica := range replicas {
		limiter := newRedis(t, sidecarOptions(t, addr), patience)
		first := replica % len(checks)
		order := slices.Concat(checks[first:], checks[:first])
		running.Go(func() {
			for range requests {
				decision, err := limiter.Decide(t.Context(), "shop", order)
				if err != nil {
					t.Errorf("replica %d: %v", replica, err)
				}
				if decision.Allowed {
					admitted.Add(1)
				}
			}
		})
	}
	running.Wait()
	if admitted.Load() != burst {
		t.Errorf("%d replicas admitted %d requests, want exactly %d", replicas, admitted.Load(), burst)
	}
}
