// Copyright The Penstock Authors.
// SPDX-License-Identifier: Apache-2.0

package store

import (
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/redis/go-redis/v9"

	"github.com/penstock-dev/penstock/internal/keys"
)

const acksKey = "penstock:acks:shop"

func writeAck(t *testing.T, s *Store, ack Ack) {
	t.Helper()
	if err := s.WriteAck(t.Context(), shop, ack); err != nil {
		t.Fatalf("WriteAck: %v", err)
	}
}

func readAcks(t *testing.T, s *Store) (map[string]Ack, time.Time) {
	t.Helper()
	acks, now, err := s.ReadAcks(t.Context(), shop)
	if err != nil {
		t.Fatalf("ReadAcks: %v", err)
	}
	return acks, now
}

func TestAcksAreReadAsWrittenWithTheStoresTime(t *testing.T) {
	t.Parallel()
	onEachBackend(t, func(t *testing.T, s *Store, client redis.UniversalClient) {
		if acks, now := readAcks(t, s); len(acks) != 0 || now.IsZero() {
			t.Errorf("acks of a namespace without any: %v at %v", acks, now)
		}
		want := Ack{PodUID: "u1", PodName: "web-1", Sequence: 1 << 52, Revision: "abc", Version: "v1",
			Problem: ProblemUnsupportedFormat, BreakerOpen: true, Undecided: 7, NotHTTP: []int32{8443},
			PeerIsProxy: map[string]string{"RateLimitPolicy/web": "X-Forwarded-For"}}
		before, err := client.Time(t.Context()).Result()
		if err != nil {
			t.Fatal(err)
		}
		writeAck(t, s, want)
		writeAck(t, s, Ack{PodUID: "u2", PodName: "web-2"})
		acks, now := readAcks(t, s)
		got := acks["u1"]
		if got.Time.Before(before) || got.Time.After(now) {
			t.Errorf("ack is of %v, want between %v and %v", got.Time, before, now)
		}
		got.Time = time.Time{}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("ack (-want +got):\n%s", diff)
		}
		if len(acks) != 2 {
			t.Errorf("%d acks, want 2", len(acks))
		}
		if ttl := client.PTTL(t.Context(), acksKey).Val(); ttl <= 0 || ttl > acksTTL {
			t.Errorf("acks expire in %v, want within %v", ttl, acksTTL)
		}
	})
}

func TestAckWithoutUIDIsRefused(t *testing.T) {
	t.Parallel()
	onEachBackend(t, func(t *testing.T, s *Store, _ redis.UniversalClient) {
		if err := s.WriteAck(t.Context(), shop, Ack{PodName: "web-1"}); err == nil {
			t.Error("an ack without a uid was written")
		}
	})
}

func TestAcksThatCannotBeReadAreLeftOutAndWrittenAnew(t *testing.T) {
	t.Parallel()
	onEachBackend(t, func(t *testing.T, s *Store, client redis.UniversalClient) {
		writeAck(t, s, Ack{PodUID: "good"})
		err := client.HSet(t.Context(), acksKey, "a", "", "b", "x {}", "c", "1", "d", "1 {").Err()
		if err != nil {
			t.Fatal(err)
		}
		if acks, _ := readAcks(t, s); len(acks) != 1 {
			t.Errorf("acks %v, want the good one only", acks)
		}
		writeAck(t, s, Ack{PodUID: "a"})
		if acks, _ := readAcks(t, s); len(acks) != 2 {
			t.Errorf("acks %v, want the one written anew as well", acks)
		}
	})
}

func TestPruneAcks(t *testing.T) {
	t.Parallel()
	onEachBackend(t, func(t *testing.T, s *Store, _ redis.UniversalClient) {
		gone := []string{"never-there"}
		for i := range pruneChunk + 5 {
			uid := fmt.Sprintf("u%d", i)
			gone = append(gone, uid)
			writeAck(t, s, Ack{PodUID: uid})
		}
		writeAck(t, s, Ack{PodUID: "stays"})
		if err := s.PruneAcks(t.Context(), shop, gone); err != nil {
			t.Fatalf("PruneAcks: %v", err)
		}
		if acks, _ := readAcks(t, s); len(acks) != 1 || acks["stays"].PodUID == "" {
			t.Errorf("%d acks left, want the one that stays", len(acks))
		}
		if err := s.PruneAcks(t.Context(), shop, nil); err != nil {
			t.Errorf("PruneAcks of none: %v", err)
		}
	})
}

func TestAckChangesTellNewContentOnly(t *testing.T) {
	t.Parallel()
	onEachBackend(t, func(t *testing.T, s *Store, client redis.UniversalClient) {
		changes := s.AckChanges(t.Context())
		awaitSubscriber(t, client)
		writeAck(t, s, Ack{PodUID: "u1", Sequence: 1})
		if got := receive(t, changes); got != shop {
			t.Errorf("changed namespace %q, want %q", got, shop)
		}
		writeAck(t, s, Ack{PodUID: "u1", Sequence: 1})
		if err := s.WriteAck(t.Context(), "blog", Ack{PodUID: "u1"}); err != nil {
			t.Fatal(err)
		}
		// The same content again would come before the other namespace's.
		if got := receive(t, changes); got != "blog" {
			t.Errorf("changed namespace %q, want blog: a beat that says nothing new was announced", got)
		}
		writeAck(t, s, Ack{PodUID: "u1", Sequence: 2})
		if got := receive(t, changes); got != shop {
			t.Errorf("changed namespace %q, want %q", got, shop)
		}
	})
}

func TestAckChangesOfAPrefixWithPatternCharacters(t *testing.T) {
	t.Parallel()
	onEachBackend(t, func(t *testing.T, _ *Store, client redis.UniversalClient) {
		odd, other := New(client, keys.Prefix("p[1]*")), New(client, keys.Prefix("p1x"))
		changes := odd.AckChanges(t.Context())
		awaitSubscriber(t, client)
		if err := other.WriteAck(t.Context(), "other", Ack{PodUID: "u"}); err != nil {
			t.Fatal(err)
		}
		writeAck(t, odd, Ack{PodUID: "u"})
		if got := receive(t, changes); got != shop {
			t.Errorf("changed namespace %q, want %q", got, shop)
		}
	})
}

func awaitSubscriber(t *testing.T, client redis.UniversalClient) {
	t.Helper()
	for deadline := time.Now().Add(10 * time.Second); client.PubSubNumPat(t.Context()).Val() == 0; {
		if time.Now().After(deadline) {
			t.Fatal("nobody subscribed within 10 s")
		}
		<-time.After(time.Millisecond)
	}
}
