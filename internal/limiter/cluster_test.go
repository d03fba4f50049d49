// Copyright The Penstock Authors.
// SPDX-License-Identifier: Apache-2.0

package limiter

import (
	"errors"
	"fmt"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/penstock-dev/penstock/internal/keys"
	"github.com/penstock-dev/penstock/internal/redisconn"
	"github.com/penstock-dev/penstock/test/redistest"
)

// startCluster runs a cluster. When the test ends, every key must have an expiry.
func startCluster(t *testing.T) *redistest.Cluster {
	t.Helper()
	c := redistest.StartCluster(t)
	for _, server := range c.Nodes {
		clientOf(t, server)
	}
	return c
}

func clusterSettings(c *redistest.Cluster) redisconn.Settings {
	return redisconn.Settings{
		Mode: redisconn.Cluster, Addresses: c.Addrs()[:1], OperationTimeout: patience, DialTimeout: patience,
	}
}

// onCluster is a limiter with all connections open to all nodes.
func onCluster(t *testing.T, settings redisconn.Settings) *Redis {
	t.Helper()
	limiter, err := Connect(settings)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(limiter.Close)
	limiter.Await(t.Context())
	for _, n := range limiter.layout.Load().all() {
		awaitNode(t, n)
	}
	return limiter
}

func awaitNode(t *testing.T, n *node) {
	t.Helper()
	await(t, func() error {
		n.dispatcher.mu.Lock()
		defer n.dispatcher.mu.Unlock()
		if idle := len(n.dispatcher.idle); idle != connections {
			return fmt.Errorf("%d connections are idle, want %d", idle, connections)
		}
		return nil
	})
}

// clientAt is a client whose counters are at the node with this number as long as no
// slot moves; another one, in another slot, for each seed.
func clientAt(t *testing.T, c *redistest.Cluster, number, seed int) string {
	t.Helper()
	for i := range 10_000 {
		client := fmt.Sprint("client-", seed, "-", i)
		if c.NodeOf(slotOf(client)) == c.Nodes[number] {
			return client
		}
	}
	t.Fatalf("no client of node %d in 10000", number)
	return ""
}

// slotOf is the slot of a client's counters.
func slotOf(client string) int { return keys.Slot(counterOf(fixedWindowOf(client, 1, ages))) }

// TestAClusterIsExact has four sidecars spend the limits of many clients.
func TestAClusterIsExact(t *testing.T) {
	t.Parallel()
	const sidecars, clients, limit = 4, 40, 7
	c := startCluster(t)
	var admitted [clients]atomic.Int64
	var running sync.WaitGroup
	for range sidecars {
		limiter := onCluster(t, clusterSettings(c))
		for client := range clients {
			checks := []Check{
				fixedWindowOf(strconv.Itoa(client), limit, ages), tokenBucketOf(strconv.Itoa(client), 1, limit+1, ages),
				slidingWindowLogOf(strconv.Itoa(client), limit+2, ages),
			}
			running.Go(func() {
				for range limit {
					decision, err := limiter.Decide(t.Context(), "shop", checks)
					if err != nil {
						t.Errorf("client %d: %v", client, err)
					}
					if decision.Allowed {
						admitted[client].Add(1)
					}
				}
			})
		}
	}
	running.Wait()
	for client := range admitted {
		if got := admitted[client].Load(); got != limit {
			t.Errorf("client %d was admitted %d times, want %d", client, got, limit)
		}
	}
	requireFewConnections(t, c, sidecars)
}

// requireFewConnections wants at most three connections of a sidecar to a node.
func requireFewConnections(t *testing.T, c *redistest.Cluster, sidecars int) {
	t.Helper()
	for _, server := range c.Nodes {
		list, err := server.Client(t).ClientList(t.Context()).Result()
		if err != nil {
			t.Fatal(err)
		}
		if ours := strings.Count(list, "name=penstock "); ours > 3*sidecars {
			t.Errorf("%d sidecars have %d connections to a node, want at most 3 each", sidecars, ours)
		}
	}
}

// TestOneCallServesTheSlotsOfANode has requests that meet limits in several slots.
func TestOneCallServesTheSlotsOfANode(t *testing.T) {
	t.Parallel()
	c := startCluster(t)
	limiter := onCluster(t, clusterSettings(c))
	var checks []Check
	for number := range c.Nodes {
		checks = append(checks, fixedWindowOf(clientAt(t, c, number, 1), 9, ages), fixedWindowOf(clientAt(t, c, number, 2), 9, ages))
	}
	decide(t, limiter, checks...)
	var made [3]atomic.Int64
	for number, address := range c.Addrs() {
		d := &limiter.layout.Load().nodes[address].dispatcher
		ended := d.ended
		d.ended = func(c *call, err error) {
			made[number].Add(1)
			ended(c, err)
		}
	}
	decision := decide(t, limiter, checks...)
	if !decision.Allowed || len(decision.Limits) != len(checks) || decision.StoreTime == 0 {
		t.Errorf("decision %+v, want admitted by %d limits", decision, len(checks))
	}
	for _, state := range decision.Limits {
		if state.Remaining != 7 {
			t.Errorf("%s has %d left, want 7", state.Identity, state.Remaining)
		}
	}
	for number := range made {
		if got := made[number].Load(); got != 1 {
			t.Errorf("node %d was called %d times, want once", number, got)
		}
	}
}

// TestARefusalGivesBackAcrossSlots has one of three limits refuse: the other two were
// charged on other nodes and in another slot.
func TestARefusalGivesBackAcrossSlots(t *testing.T) {
	t.Parallel()
	c := startCluster(t)
	limiter := onCluster(t, clusterSettings(c))
	narrow := fixedWindowOf(clientAt(t, c, 0, 1), 1, ages)
	limiter.remembered = nil
	decide(t, limiter, narrow)
	near, far := clientAt(t, c, 0, 2), clientAt(t, c, 1, 1)
	for name, others := range map[string][]Check{
		"bucket": {tokenBucketOf(near, 1, 9, ages), tokenBucketOf(far, 1, 9, ages)},
		"window": {fixedWindowOf(near, 9, ages), fixedWindowOf(far, 9, ages)},
		"log":    {slidingWindowLogOf(near, 9, ages), slidingWindowLogOf(far, 9, ages)},
		"queue":  {leakyBucketOf(near, 1000, 9, ages), leakyBucketOf(far, 1000, 9, ages)},
	} {
		for range 3 {
			got := decide(t, limiter, append([]Check{narrow}, others...)...)
			if got.Allowed || got.RetryAfter == 0 || got.Receipt != nil || got.Limits[0].Identity != narrow.Identity || len(got.Limits) != 3 {
				t.Fatalf("%s: decision %+v, want refused by the limit of 1", name, got)
			}
			for _, state := range got.Limits[1:] {
				if !state.Allowed || state.Remaining != 9 {
					t.Errorf("%s: another limit is %+v, want it unused", name, state)
				}
			}
			for _, check := range others {
				await(t, func() error {
					if left := decide(t, limiter, costing(check, 0)).Limits[0].Remaining; left != 9 {
						return fmt.Errorf("%s: %d left of %s, want 9", name, left, check.Identity)
					}
					return nil
				})
			}
		}
	}
	if lost := limiter.CorrectionsLost(); lost != 0 {
		t.Errorf("%d corrections were lost", lost)
	}
}

// TestReceiptsReachAcrossSlots cancels what was charged in two slots.
func TestReceiptsReachAcrossSlots(t *testing.T) {
	t.Parallel()
	c := startCluster(t)
	limiter := onCluster(t, clusterSettings(c))
	checks := []Check{fixedWindowOf(clientAt(t, c, 0, 1), 9, ages), fixedWindowOf(clientAt(t, c, 1, 1), 9, ages)}
	for i := range checks {
		checks[i].Correctable = true
	}
	decide(t, limiter, checks...)
	decision := decide(t, limiter, checks...)
	decision.Receipt.Cancel()
	for _, check := range checks {
		await(t, func() error {
			if left := decide(t, limiter, costing(check, 0)).Limits[0].Remaining; left != 8 {
				return fmt.Errorf("%d left of %s, want 8", left, check.Identity)
			}
			return nil
		})
	}
}

// TestAClusterThatStartsLateIsFound begins with nothing at any address.
func TestAClusterThatStartsLateIsFound(t *testing.T) {
	t.Parallel()
	c := startCluster(t)
	for _, server := range c.Nodes {
		server.Stop()
	}
	limiter, err := Connect(clusterSettings(c))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(limiter.Close)
	limiter.Await(t.Context())
	check := fixedWindowOf("a", 9, ages)
	for range opensAfter {
		if _, err := limiter.Decide(t.Context(), "shop", []Check{check}); ErrorKind(err) != KindConnection {
			t.Errorf("error %v, want one of kind connection", err)
		}
	}
	if _, err := limiter.Decide(t.Context(), "shop", []Check{check}); !errors.Is(err, ErrBreakerOpen) || !limiter.Open() {
		t.Errorf("error %v after %d failures, want an open breaker", err, opensAfter)
	}
	for _, server := range c.Nodes {
		server.Restart()
	}
	await(t, func() error {
		_, err := limiter.Decide(t.Context(), "shop", []Check{check})
		return err
	})
	requireCloses(t, limiter)
}

// TestAClusterLimiterLeavesNothing counts goroutines and connections.
func TestAClusterLimiterLeavesNothing(t *testing.T) {
	c := startCluster(t)
	before := runtime.NumGoroutine()
	for range 3 {
		limiter := onCluster(t, clusterSettings(c))
		decide(t, limiter, fixedWindowOf(clientAt(t, c, 0, 1), 9, ages), fixedWindowOf(clientAt(t, c, 1, 1), 9, ages))
		limiter.Close()
		if _, err := limiter.Decide(t.Context(), "shop", []Check{fixedWindowOf("a", 9, ages)}); err == nil {
			t.Error("a closed limiter decides")
		}
	}
	await(t, func() error {
		if left := runtime.NumGoroutine() - before; left > 0 {
			return fmt.Errorf("%d goroutines are left", left)
		}
		return nil
	})
	for _, server := range c.Nodes {
		admin := server.Client(t)
		await(t, func() error {
			if list := admin.ClientList(t.Context()).Val(); strings.Contains(list, "name=penstock ") {
				return errors.New("a connection is left")
			}
			return nil
		})
	}
}
