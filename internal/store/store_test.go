// Copyright The Penstock Authors.
// SPDX-License-Identifier: Apache-2.0

package store

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/alicebob/miniredis/v2"
	"github.com/google/go-cmp/cmp"
	"github.com/redis/go-redis/v9"

	"github.com/penstock-dev/penstock/internal/keys"
	"github.com/penstock-dev/penstock/internal/ruleset"
	"github.com/penstock-dev/penstock/test/redistest"
)

const (
	shop = "shop"
	kind = "RateLimitPolicy"
)

// onEachBackend runs a test on a real Redis and on the embedded store's engine.
func onEachBackend(t *testing.T, run func(t *testing.T, s *Store, client redis.UniversalClient)) {
	t.Helper()
	t.Run("redis", func(t *testing.T) {
		t.Parallel()
		client := redistest.Start(t).Client(t)
		run(t, New(client, keys.DefaultPrefix), client)
	})
	t.Run("embedded", func(t *testing.T) {
		t.Parallel()
		client := redis.NewClient(&redis.Options{Addr: miniredis.RunT(t).Addr()})
		t.Cleanup(func() { _ = client.Close() })
		run(t, New(client, keys.DefaultPrefix), client)
	})
}

// policies returns a rule set with one policy per "name=revision".
func policies(namesAndRevisions ...string) *ruleset.RuleSet {
	rs := &ruleset.RuleSet{Format: ruleset.Format, Namespace: shop, IdentityKey: []byte("key")}
	for _, entry := range namesAndRevisions {
		name, revision, _ := strings.Cut(entry, "=")
		rs.Policies = append(rs.Policies, ruleset.Policy{Kind: kind, Name: name, Revision: revision})
	}
	return rs
}

func publish(t *testing.T, s *Store, rs *ruleset.RuleSet) Publication {
	t.Helper()
	published, err := s.Publish(t.Context(), rs)
	if err != nil {
		t.Fatalf("Publish: %v", err)
	}
	return published
}

// receive takes the next value, or fails the test after a while.
func receive[T any](t *testing.T, from <-chan T) T {
	t.Helper()
	select {
	case value := <-from:
		return value
	case <-time.After(10 * time.Second):
		t.Fatal("nothing came within 10 s")
		panic("unreachable")
	}
}

// start runs f until the test or the returned function ends it.
func start(t *testing.T, f func(context.Context)) (stop func()) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan struct{})
	go func() {
		defer close(done)
		f(ctx)
	}()
	stop = func() {
		cancel()
		<-done
	}
	t.Cleanup(stop)
	return stop
}

func TestOwner(t *testing.T) {
	t.Parallel()
	onEachBackend(t, func(t *testing.T, s *Store, _ redis.UniversalClient) {
		for range 2 {
			if err := s.Owner(t.Context(), "uid-1"); err != nil {
				t.Fatalf("Owner of the first cluster: %v", err)
			}
		}
		err := s.Owner(t.Context(), "uid-2")
		if !errors.Is(err, ErrPrefixInUse) {
			t.Fatalf("Owner of a second cluster: %v, want ErrPrefixInUse", err)
		}
		for _, part := range []string{"uid-1", "uid-2", "penstock:owner", "keyPrefix"} {
			if !strings.Contains(err.Error(), part) {
				t.Errorf("error %q does not name %q", err, part)
			}
		}
	})
}

func TestWithdrawDeletesTheNamespaceOnly(t *testing.T) {
	t.Parallel()
	onEachBackend(t, func(t *testing.T, s *Store, client redis.UniversalClient) {
		other := policies("web=a")
		other.Namespace = "blog"
		publish(t, s, policies("web=a"))
		publish(t, s, other)
		if err := s.WriteAck(t.Context(), shop, Ack{PodUID: "uid"}); err != nil {
			t.Fatal(err)
		}
		if err := s.Withdraw(t.Context(), shop); err != nil {
			t.Fatalf("Withdraw: %v", err)
		}
		left, err := client.Keys(t.Context(), "*").Result()
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff([]string{"penstock:rules:blog"}, left); diff != "" {
			t.Errorf("keys left (-want +got):\n%s", diff)
		}
	})
}

func TestSetLive(t *testing.T) {
	t.Parallel()
	onEachBackend(t, func(t *testing.T, s *Store, client redis.UniversalClient) {
		live := map[string]int64{PolicyKey(kind, "web"): 3}
		if err := s.SetLive(t.Context(), shop, live); err != nil {
			t.Fatalf("SetLive without a rule set: %v", err)
		}
		if n := client.Exists(t.Context(), "penstock:rules:shop").Val(); n != 0 {
			t.Fatal("SetLive made a rule set out of nothing")
		}
		before := publish(t, s, policies("web=a"))
		if err := s.SetLive(t.Context(), shop, live); err != nil {
			t.Fatalf("SetLive: %v", err)
		}
		if after := publish(t, s, policies("web=a")); after.Written || after.Sequence != before.Sequence {
			t.Errorf("live pods changed the publication: %+v", after)
		}
		publish(t, s, policies("web=b"))
		found, err := s.readHead(t.Context(), shop)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(live, found.live); diff != "" {
			t.Errorf("live pods after another publication (-want +got):\n%s", diff)
		}
	})
}
