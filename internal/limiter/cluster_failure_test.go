// Copyright The Penstock Authors.
// SPDX-License-Identifier: Apache-2.0

package limiter

import (
	"context"
	"errors"
	"net"
	"testing"
	"time"

	"github.com/penstock-dev/penstock/internal/keys"
	"github.com/penstock-dev/penstock/internal/redisconn"
	"github.com/penstock-dev/penstock/internal/ruleset"
	"github.com/penstock-dev/penstock/test/redistest"
)

// TestALostNodeCostsOnlyItsOwnSlots kills one of three nodes.
func TestALostNodeCostsOnlyItsOwnSlots(t *testing.T) {
	t.Parallel()
	c := startCluster(t)
	limiter := onCluster(t, clusterSettings(c))
	lost, other := fixedWindowOf(clientAt(t, c, 1, 1), 1_000_000, ages), fixedWindowOf(clientAt(t, c, 2, 1), 1_000_000, ages)
	c.Nodes[1].Stop()
	failures := 0
	for range 200 {
		if _, err := limiter.Decide(t.Context(), "shop", []Check{lost}); err == nil {
			t.Fatal("a node that is gone decides")
		} else if !errors.Is(err, ErrBreakerOpen) {
			failures++
		}
		decide(t, limiter, other)
	}
	if failures > opensAfter+connections || !limiter.Open() {
		t.Errorf("%d requests asked for the node that is gone, breaker open %t, want at most %d", failures, limiter.Open(), opensAfter+connections)
	}
	c.Nodes[1].Restart()
	requireCloses(t, limiter)
	decide(t, limiter, lost)
}

// TestANodeThatHangsHoldsUpNobodyElse pauses one of three nodes.
func TestANodeThatHangsHoldsUpNobodyElse(t *testing.T) {
	t.Parallel()
	c := startCluster(t)
	settings := clusterSettings(c)
	settings.OperationTimeout = 200 * time.Millisecond
	limiter := onCluster(t, settings)
	hangs, other := fixedWindowOf(clientAt(t, c, 1, 1), 1_000_000, ages), fixedWindowOf(clientAt(t, c, 2, 1), 1_000_000, ages)
	c.Nodes[1].Pause()
	waited := 0
	for range 100 {
		began := time.Now()
		if _, err := limiter.Decide(t.Context(), "shop", []Check{hangs}); err == nil {
			t.Fatal("a node that hangs decides")
		}
		if time.Since(began) > settings.OperationTimeout/2 {
			waited++
		}
		if _, err := limiter.Decide(t.Context(), "shop", []Check{other}); ErrorKind(err) == KindConnection {
			t.Errorf("another node: %v", err)
		}
	}
	if waited > opensAfter {
		t.Errorf("%d requests waited for the node that hangs, want at most %d", waited, opensAfter)
	}
	c.Nodes[1].Resume()
	requireCloses(t, limiter)
	await(t, func() error {
		_, err := limiter.Decide(t.Context(), "shop", []Check{hangs})
		return err
	})
}

// TestAPartWithoutAVerdict has two limits at two nodes, of which one is gone. What its
// rule wants decides on that limit alone.
func TestAPartWithoutAVerdict(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		failure     ruleset.OnStoreFailure
		wantAllowed bool
		wantSource  Source
		// wantLeft is what is left of 9 at the node that works.
		wantLeft int64
	}{
		"Allow": {failure: ruleset.FailAllow, wantAllowed: true, wantSource: StoreAllowed, wantLeft: 8},
		"Deny":  {failure: ruleset.FailDeny, wantSource: StoreDenied, wantLeft: 9},
		"Local": {failure: ruleset.FailLocal, wantAllowed: true, wantSource: Local, wantLeft: 8},
	}
	c := startCluster(t)
	limiter := onCluster(t, clusterSettings(c))
	limiter.remembered = nil
	c.Nodes[1].Stop()
	defer c.Nodes[1].Restart()
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			fallback := WithFallback(limiter, FallbackOptions{})
			client := clientAt(t, c, 0, int(tc.wantSource))
			works := fixedWindowOf(client, 9, ages)
			lost := tokenBucketOf(clientAt(t, c, 1, int(tc.wantSource)), 10, 10, time.Hour)
			lost.OnStoreFailure = tc.failure
			got := decide(t, fallback, works, lost)
			if got.Allowed != tc.wantAllowed || got.Source != tc.wantSource {
				t.Errorf("decision %+v, want allowed %t from %v", got, tc.wantAllowed, tc.wantSource)
			}
			for _, state := range got.Limits {
				if (state.Source == Store) != (state.Identity == works.Identity) {
					t.Errorf("limit %+v: decided by the wrong one", state)
				}
			}
			await(t, func() error {
				left := decide(t, limiter, costing(works, 0)).Limits[0].Remaining
				if left != tc.wantLeft {
					return errors.New("the limit of the node that works was not charged as it should")
				}
				return nil
			})
			// A limit that refuses needs no word from the others.
			exhausted := fixedWindowOf(client, 1, ages)
			exhausted.Limit.Key = "another"
			decide(t, limiter, exhausted)
			if got := decide(t, fallback, exhausted, lost); got.Allowed || got.Source != Store || got.RetryAfter == 0 {
				t.Errorf("decision %+v, want refused by the store", got)
			}
		})
	}
}

// throughRelay has a limiter reach a node through a relay.
func throughRelay(t *testing.T, c *redistest.Cluster, number int) (*Redis, *relay) {
	t.Helper()
	between := startRelay(t, c.Addrs()[number])
	options, err := redisconn.DecidingOptions(clusterSettings(c))
	if err != nil {
		t.Fatal(err)
	}
	options.Dialer = func(ctx context.Context, network, address string) (net.Conn, error) {
		if address == c.Addrs()[number] {
			address = between.listener.Addr().String()
		}
		return new(net.Dialer).DialContext(ctx, network, address)
	}
	limiter := newCluster(options, c.Addrs(), newLimiter(keys.DefaultPrefix, patience))
	t.Cleanup(limiter.Close)
	limiter.Await(t.Context())
	for _, n := range limiter.layout.Load().all() {
		awaitNode(t, n)
	}
	return limiter, between
}

// TestALostReplyInAClusterChargesOnce cuts the connection in the middle of a reply, of
// one slot and of two in one call.
func TestALostReplyInAClusterChargesOnce(t *testing.T) {
	t.Parallel()
	c := startCluster(t)
	limiter, between := throughRelay(t, c, 0)
	one := fixedWindowOf(clientAt(t, c, 0, 1), 1_000_000, ages)
	two := fixedWindowOf(clientAt(t, c, 0, 2), 1_000_000, ages)
	for _, checks := range [][]Check{{one}, {one, two}} {
		decide(t, limiter, checks...)
		for _, cut := range []int64{0, 3, 20, 30, 45, 60} {
			if len(checks) == 1 && cut > 30 {
				continue
			}
			for _, n := range limiter.layout.Load().all() {
				awaitNode(t, n)
				n.breaker.close()
			}
			before := decide(t, limiter, costing(one, 0)).Limits[0].Remaining
			between.cutting.Store(cut)
			decision, err := limiter.Decide(t.Context(), "shop", checks)
			for _, n := range limiter.layout.Load().all() {
				awaitNode(t, n)
				n.breaker.close()
			}
			after := decide(t, limiter, costing(one, 0)).Limits[0].Remaining
			if err == nil {
				t.Fatalf("cut after %d bytes: %+v, want no verdict", cut, decision)
			}
			if charged := before - after; charged > 1 {
				t.Errorf("cut after %d bytes: charged %d times", cut, charged)
			}
		}
	}
}
