// Copyright The Penstock Authors.
// SPDX-License-Identifier: Apache-2.0

package limiter

import (
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
)

// TestAMovedSlotIsFollowed moves a slot that the limiter believes where it was. Nodes
// may tell where by a port alone.
func TestAMovedSlotIsFollowed(t *testing.T) {
	t.Parallel()
	for _, endpoint := range []string{"ip", "unknown-endpoint"} {
		t.Run(endpoint, func(t *testing.T) {
			t.Parallel()
			requireFollowed(t, endpoint)
		})
	}
}

func requireFollowed(t *testing.T, endpoint string) {
	t.Helper()
	c := startCluster(t)
	for _, server := range c.Nodes {
		if err := server.Client(t).ConfigSet(t.Context(), "cluster-preferred-endpoint-type", endpoint).Err(); err != nil {
			t.Fatal(err)
		}
	}
	limiter := onCluster(t, clusterSettings(c))
	moved, stays := clientAt(t, c, 0, 1), clientAt(t, c, 2, 1)
	checks := []Check{fixedWindowOf(moved, 9, ages), tokenBucketOf(moved, 1, 9, ages), fixedWindowOf(stays, 9, ages)}
	decide(t, limiter, checks...)
	slot := slotOf(moved)
	migration := c.Begin(t, slot, c.Nodes[0], c.Nodes[1])
	for migration.MoveKeys(t) {
	}
	// The keys are there, and the slot not yet.
	if got := decide(t, limiter, checks...); !got.Allowed || got.Limits[0].Remaining != 7 {
		t.Errorf("decision %+v while the slot is moving, want admitted with 7 left", got)
	}
	migration.End(t)
	if got := decide(t, limiter, checks...); !got.Allowed || got.Limits[0].Remaining != 6 {
		t.Errorf("decision %+v after the slot moved, want admitted with 6 left", got)
	}
	await(t, func() error {
		known := limiter.layout.Load()
		if known.nodeOf(slot) != known.nodes[c.Addrs()[1]] {
			return fmt.Errorf("slot %d is still believed at its former node", slot)
		}
		return nil
	})
	if got := decide(t, limiter, checks...); !got.Allowed || got.Limits[0].Remaining != 5 || limiter.Open() {
		t.Errorf("decision %+v, breaker open %t, want admitted with 5 left", got, limiter.Open())
	}
}

// TestCorrectionsFollowAMovedSlot gives back where the slot was.
func TestCorrectionsFollowAMovedSlot(t *testing.T) {
	t.Parallel()
	c := startCluster(t)
	limiter := onCluster(t, clusterSettings(c))
	moved := clientAt(t, c, 0, 1)
	check := fixedWindowOf(moved, 9, ages)
	check.Correctable = true
	receipt := decide(t, limiter, check).Receipt
	migration := c.Begin(t, slotOf(moved), c.Nodes[0], c.Nodes[1])
	for migration.MoveKeys(t) {
	}
	migration.End(t)
	receipt.Cancel()
	await(t, func() error {
		if left := decide(t, limiter, costing(check, 0)).Limits[0].Remaining; left != 9 {
			return fmt.Errorf("%d left, want 9", left)
		}
		return nil
	})
	if lost := limiter.CorrectionsLost(); lost != 0 {
		t.Errorf("%d corrections were lost", lost)
	}
}

// moving is the load on some limits in a slot that moves, and what became of it.
type moving struct {
	checks             []Check
	admitted, failures atomic.Int64
}

func (m *moving) run(t *testing.T, limiter *Redis, over *atomic.Bool) {
	for !over.Load() {
		decision, err := limiter.Decide(t.Context(), "shop", m.checks)
		switch {
		case err != nil:
			m.failures.Add(1)
		case decision.Allowed:
			m.admitted.Add(1)
		}
	}
}

// TestSlotsMoveUnderLoad moves a slot back and forth while four sidecars count in it,
// a few keys at a time. No request is charged twice, none that was admitted is lost,
// and limits hold. Requests on several limits may be left without a verdict: a
// node does not answer while it has some of the keys and not the others.
func TestSlotsMoveUnderLoad(t *testing.T) {
	t.Parallel()
	const sidecars, rounds, large, small = 4, 6, 1_000_000, 40
	c := startCluster(t)
	// All limits of one client are in one slot.
	client := clientAt(t, c, 0, 1)
	loads := make([]*moving, 40)
	for i := range loads {
		loads[i] = &moving{}
		// Every fifth has two limits.
		for k := range 1 + (i+1)%5/4 {
			check := fixedWindowOf(client, []int64{large, small}[i%2], ages)
			check.Limit.Key = fmt.Sprintf("limit-%02d-%d", i, k)
			loads[i].checks = append(loads[i].checks, check)
		}
	}
	limiters := make([]*Redis, sidecars)
	for i := range limiters {
		limiters[i] = onCluster(t, clusterSettings(c))
		limiters[i].remembered = nil
	}
	var over atomic.Bool
	var running sync.WaitGroup
	for _, limiter := range limiters {
		for _, load := range loads {
			running.Go(func() { load.run(t, limiter, &over) })
		}
	}
	for round := range rounds {
		migration := c.Begin(t, slotOf(client), c.Nodes[round%2], c.Nodes[1-round%2])
		for migration.MoveKeys(t) {
		}
		migration.End(t)
	}
	over.Store(true)
	running.Wait()
	decided, undecided := int64(0), int64(0)
	for _, load := range loads {
		admitted, failures := load.admitted.Load(), load.failures.Load()
		decided, undecided = decided+admitted, undecided+failures
		for _, check := range load.checks {
			limit := check.Limit.Requests
			charged := limit - decide(t, limiters[0], costing(check, 0)).Limits[0].Remaining
			if admitted > limit || charged < admitted || charged > admitted+failures {
				t.Errorf("%s of %d: %d admitted, %d without a verdict, %d charged", check.Limit.Key, limit, admitted, failures, charged)
			}
		}
		if failures > admitted/100+2 && len(load.checks) == 1 {
			t.Errorf("%s: %d without a verdict", load.checks[0].Limit.Key, failures)
		}
	}
	t.Logf("%d admitted, %d without a verdict", decided, undecided)
	if undecided > decided {
		t.Errorf("%d admitted, %d without a verdict", decided, undecided)
	}
}
