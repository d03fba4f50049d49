// Copyright The Penstock Authors.
// SPDX-License-Identifier: Apache-2.0

package store

import (
	"context"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/penstock-dev/penstock/internal/redisconn"
	"github.com/penstock-dev/penstock/internal/ruleset"
	"github.com/penstock-dev/penstock/test/redistest"
)

// opened is the store behind settings, and a client of it to look with.
func opened(t *testing.T, settings redisconn.Settings) (*Store, redis.UniversalClient) {
	t.Helper()
	settings.DialTimeout = 5 * time.Second
	s, err := Open(settings)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	return s, s.client
}

func openedSentinel(t *testing.T, watched *redistest.Sentinel) *Store {
	t.Helper()
	s, _ := opened(t, redisconn.Settings{Mode: redisconn.Sentinel, Addresses: watched.Addrs(), MasterName: watched.MasterName()})
	return s
}

// publishAgain publishes until it works, as the operator does.
func publishAgain(t *testing.T, s *Store, rs *ruleset.RuleSet) Publication {
	t.Helper()
	var err error
	for deadline := time.Now().Add(20 * time.Second); time.Now().Before(deadline); {
		var published Publication
		if published, err = s.Publish(t.Context(), rs); err == nil {
			return published
		}
	}
	t.Fatalf("publish: %v, after 20 s", err)
	return Publication{}
}

// TestRulesAndAcksOutliveAFailover kills the master under an operator and a
// sidecar. Sequences grow on, and both find the new master.
func TestRulesAndAcksOutliveAFailover(t *testing.T) {
	t.Parallel()
	watched := redistest.StartSentinel(t)
	operator, sidecar := openedSentinel(t, watched), openedSentinel(t, watched)
	changes := operator.AckChanges(t.Context())
	first := publish(t, operator, policies("web=a"))
	w := watch(t, sidecar, 50*time.Millisecond)
	receive(t, w.updates)
	acker := NewAcker(shop, Ack{PodUID: "u1", PodName: "web-1"}, AckerOptions{Beat: 100 * time.Millisecond})
	start(t, func(ctx context.Context) { acker.Run(ctx, sidecar) })
	if got := receive(t, changes); got != shop {
		t.Errorf("changed namespace %q, want %q", got, shop)
	}
	watched.Master.Stop()
	watched.AwaitMaster(t, watched.Replica)
	second := publishAgain(t, operator, policies("web=b"))
	if second.Sequence <= first.Sequence {
		t.Errorf("sequence %d after the failover, want more than %d", second.Sequence, first.Sequence)
	}
	if got := receive(t, w.updates); got.Sequence != second.Sequence {
		t.Errorf("update %+v after the failover, want sequence %d", got, second.Sequence)
	}
	acker.Set(Standing{Sequence: second.Sequence})
	for deadline := time.Now().Add(20 * time.Second); ; {
		acks, _, err := operator.ReadAcks(t.Context(), shop)
		if err == nil && acks["u1"].Sequence == second.Sequence {
			break
		}
		if time.Now().After(deadline) {
			t.Fatalf("acks %v, %v after the failover, want sequence %d", acks, err, second.Sequence)
		}
	}
}

// TestRulesAndAcksInACluster has the keys of several namespaces, and so several
// nodes, and announcements that cross from node to node.
func TestRulesAndAcksInACluster(t *testing.T) {
	t.Parallel()
	cluster := redistest.StartCluster(t)
	settings := redisconn.Settings{Mode: redisconn.Cluster, Addresses: cluster.Addrs()[:1]}
	operator, client := opened(t, settings)
	sidecar, _ := opened(t, settings)
	if err := operator.Owner(t.Context(), "uid-1"); err != nil {
		t.Fatal(err)
	}
	if server, err := operator.Server(t.Context()); err != nil || server.Version == "" {
		t.Errorf("the server is %+v, %v, want a version", server, err)
	}
	first := publish(t, operator, policies("web=a"))
	w := watch(t, sidecar, time.Hour)
	receive(t, w.updates)
	second := publish(t, operator, policies("web=b"))
	if got := receive(t, w.updates); got.Sequence != second.Sequence || second.Sequence <= first.Sequence {
		t.Errorf("update %+v, want sequence %d", got, second.Sequence)
	}
	if err := operator.SetLive(t.Context(), shop, map[string]int64{PolicyKey(kind, "web"): 2}); err != nil {
		t.Fatal(err)
	}
	if head, err := sidecar.Head(t.Context(), shop); err != nil || head.LivePods[PolicyKey(kind, "web")] != 2 {
		t.Errorf("head %+v, %v, want two live pods", head, err)
	}
	changes := operator.AckChanges(t.Context())
	awaitSubscriber(t, client)
	for _, namespace := range []string{"a", "b", "c", "d", "e", "f"} {
		if err := sidecar.WriteAck(t.Context(), namespace, Ack{PodUID: "u1"}); err != nil {
			t.Fatal(err)
		}
		if got := receive(t, changes); got != namespace {
			t.Errorf("changed namespace %q, want %q", got, namespace)
		}
		acks, _, err := operator.ReadAcks(t.Context(), namespace)
		if err != nil || len(acks) != 1 {
			t.Errorf("acks of namespace %q: %v, %v, want one", namespace, acks, err)
		}
		if err := operator.PruneAcks(t.Context(), namespace, []string{"u1"}); err != nil {
			t.Error(err)
		}
	}
	if err := operator.Withdraw(t.Context(), shop); err != nil {
		t.Fatal(err)
	}
	if left, err := operator.Load(t.Context(), shop); err != nil || left.Sequence != 0 {
		t.Errorf("left after Withdraw: %+v, %v, want nothing", left, err)
	}
}
