// Copyright The Penstock Authors.
// SPDX-License-Identifier: Apache-2.0

package store

import (
	"bytes"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/redis/go-redis/v9"

	"github.com/penstock-dev/penstock/internal/ruleset"
)

const rulesKey = "penstock:rules:shop"

func TestPublishIsIdempotent(t *testing.T) {
	t.Parallel()
	onEachBackend(t, func(t *testing.T, s *Store, client redis.UniversalClient) {
		first := publish(t, s, policies("web=a"))
		if !first.Written || first.Sequence < 1 || first.Revision == "" {
			t.Fatalf("first publication %+v is not one", first)
		}
		// What stands is known from the store: another process finds the same.
		again := publish(t, New(client, "penstock"), policies("web=a"))
		want := first
		want.Written = false
		if diff := cmp.Diff(want, again); diff != "" {
			t.Errorf("second publication of the same (-want +got):\n%s", diff)
		}
		if ttl := client.PTTL(t.Context(), rulesKey).Val(); ttl != -1 {
			t.Errorf("rules expire in %v, want never", ttl)
		}
	})
}

func TestPublishSequencesGrowWithTheStoresClock(t *testing.T) {
	t.Parallel()
	onEachBackend(t, func(t *testing.T, s *Store, client redis.UniversalClient) {
		now, err := client.Time(t.Context()).Result()
		if err != nil {
			t.Fatal(err)
		}
		first := publish(t, s, policies("web=a"))
		if first.Sequence < now.UnixMicro() || first.Sequence > now.Add(time.Minute).UnixMicro() {
			t.Errorf("first sequence %d is not the store's time, which is about %d", first.Sequence, now.UnixMicro())
		}
		second := publish(t, s, policies("web=b"))
		if second.Sequence <= first.Sequence {
			t.Errorf("sequence %d after %d does not grow", second.Sequence, first.Sequence)
		}
		if err := client.FlushAll(t.Context()).Err(); err != nil {
			t.Fatal(err)
		}
		third := publish(t, New(client, "penstock"), policies("web=b"))
		if third.Sequence <= second.Sequence || !third.Written {
			t.Errorf("publication after a flush %+v does not follow sequence %d", third, second.Sequence)
		}
	})
}

func TestPublishSequenceGrowsWhereTheStoreLostItAndItsClockIsBehind(t *testing.T) {
	t.Parallel()
	onEachBackend(t, func(t *testing.T, s *Store, client redis.UniversalClient) {
		ahead := time.Now().Add(time.Hour).UnixMicro()
		publish(t, s, policies("web=a"))
		if err := client.HSet(t.Context(), rulesKey, "sequence", ahead).Err(); err != nil {
			t.Fatal(err)
		}
		lost := publish(t, s, policies("web=b"))
		if lost.Sequence != ahead+1 {
			t.Fatalf("sequence %d, want the next after %d", lost.Sequence, ahead)
		}
		if err := client.Del(t.Context(), rulesKey).Err(); err != nil {
			t.Fatal(err)
		}
		if after := publish(t, s, policies("web=b")); after.Sequence != ahead+2 {
			t.Errorf("sequence %d after the loss, want %d", after.Sequence, ahead+2)
		}
	})
}

func TestPublishTellsWhenEachPolicyChanged(t *testing.T) {
	t.Parallel()
	onEachBackend(t, func(t *testing.T, s *Store, _ redis.UniversalClient) {
		api, web := PolicyKey(kind, "api"), PolicyKey(kind, "web")
		p1 := publish(t, s, policies("api=a", "web=a"))
		p2 := publish(t, s, policies("api=a", "web=b"))
		p3 := publish(t, s, policies("web=b"))
		p4 := publish(t, s, policies("api=a", "web=b"))
		steps := []struct {
			name string
			got  Publication
			want map[string]int64
		}{
			{"both added", p1, map[string]int64{api: p1.Sequence, web: p1.Sequence}},
			{"one changed", p2, map[string]int64{api: p1.Sequence, web: p2.Sequence}},
			{"one removed", p3, map[string]int64{web: p2.Sequence}},
			{"one came back", p4, map[string]int64{api: p4.Sequence, web: p2.Sequence}},
		}
		for _, step := range steps {
			if diff := cmp.Diff(step.want, step.got.Policies); diff != "" {
				t.Errorf("%s (-want +got):\n%s", step.name, diff)
			}
			if !step.got.Written {
				t.Errorf("%s: nothing was written", step.name)
			}
		}
	})
}

func TestPublishMendsWhatAHandDamaged(t *testing.T) {
	t.Parallel()
	damages := map[string]func(*testing.T, redis.UniversalClient) error{
		"key deleted": func(t *testing.T, c redis.UniversalClient) error { return c.Del(t.Context(), rulesKey).Err() },
		"body changed": func(t *testing.T, c redis.UniversalClient) error {
			return c.HSet(t.Context(), rulesKey, "body", "x").Err()
		},
		"body deleted": func(t *testing.T, c redis.UniversalClient) error { return c.HDel(t.Context(), rulesKey, "body").Err() },
		"format changed": func(t *testing.T, c redis.UniversalClient) error {
			return c.HSet(t.Context(), rulesKey, "format", 9).Err()
		},
		"sequence no number": func(t *testing.T, c redis.UniversalClient) error {
			return c.HSet(t.Context(), rulesKey, "sequence", "1e3").Err()
		},
		"sequence negative": func(t *testing.T, c redis.UniversalClient) error {
			return c.HSet(t.Context(), rulesKey, "sequence", "-7").Err()
		},
		"policies no JSON": func(t *testing.T, c redis.UniversalClient) error {
			return c.HSet(t.Context(), rulesKey, "policies", "{").Err()
		},
		"policies of another revision": func(t *testing.T, c redis.UniversalClient) error {
			return c.HSet(t.Context(), rulesKey, "policies", `{"RateLimitPolicy/web":{"revision":"z","sequence":1}}`).Err()
		},
		"another type": func(t *testing.T, c redis.UniversalClient) error {
			return c.Set(t.Context(), rulesKey, "x", time.Minute).Err()
		},
		"revision emptied": func(t *testing.T, c redis.UniversalClient) error {
			return c.HSet(t.Context(), rulesKey, "revision", "").Err()
		},
	}
	onEachBackend(t, func(t *testing.T, s *Store, client redis.UniversalClient) {
		last := publish(t, s, policies("web=a"))
		for name, damage := range damages {
			if err := damage(t, client); err != nil {
				t.Fatalf("%s: %v", name, err)
			}
			mended := publish(t, s, policies("web=a"))
			if !mended.Written || mended.Sequence <= last.Sequence {
				t.Errorf("%s: publication %+v does not mend", name, mended)
			}
			last = mended
			found, body, err := s.readPublished(t.Context(), shop)
			if err != nil {
				t.Errorf("%s: read back: %v", name, err)
			}
			if _, err := decode(shop, found.format, body); err != nil {
				t.Errorf("%s: decode what was written: %v", name, err)
			}
		}
	})
}

func TestPublishIsCompareAndSet(t *testing.T) {
	t.Parallel()
	onEachBackend(t, func(t *testing.T, s *Store, client redis.UniversalClient) {
		old, err := s.standing(t.Context(), shop)
		if err != nil {
			t.Fatal(err)
		}
		body, revision, err := ruleset.Encode(policies("web=a"))
		if err != nil {
			t.Fatal(err)
		}
		between := publish(t, New(client, "penstock"), policies("web=b"))
		written, err := s.write(t.Context(), policies("web=a"), old.sequenceText, plan(old, policies("web=a"), body, revision), body)
		if err != nil || written {
			t.Fatalf("write over a publication that came between: %t, %v; want false", written, err)
		}
		if after := publish(t, s, policies("web=a")); after.Sequence <= between.Sequence {
			t.Errorf("sequence %d does not follow %d", after.Sequence, between.Sequence)
		}
	})
}

func TestPublishByTwoOperatorsAtOnce(t *testing.T) {
	t.Parallel()
	onEachBackend(t, func(t *testing.T, _ *Store, client redis.UniversalClient) {
		const writers = 2
		var mu sync.Mutex
		sequences := map[int64]int{}
		var group sync.WaitGroup
		for writer := range writers {
			group.Go(func() {
				s := New(client, "penstock")
				for round := range 20 {
					revision := hex.EncodeToString([]byte{byte(writer), byte(round)})
					published, err := s.Publish(t.Context(), policies("web="+revision))
					if errors.Is(err, ErrConflict) {
						continue // it says so instead of overwriting
					}
					if err != nil {
						t.Errorf("Publish: %v", err)
						return
					}
					mu.Lock()
					sequences[published.Sequence]++
					mu.Unlock()
				}
			})
		}
		group.Wait()
		for sequence, times := range sequences {
			if times > 1 {
				t.Errorf("sequence %d was given to %d publications", sequence, times)
			}
		}
	})
}

func TestPublishAnnounces(t *testing.T) {
	t.Parallel()
	onEachBackend(t, func(t *testing.T, s *Store, client redis.UniversalClient) {
		subscription := client.Subscribe(t.Context(), rulesKey)
		defer func() { _ = subscription.Close() }()
		if _, err := subscription.Receive(t.Context()); err != nil {
			t.Fatal(err)
		}
		publish(t, s, policies("web=a"))
		publish(t, s, policies("web=a"))
		last := publish(t, s, policies("web=b"))
		receive(t, subscription.Channel())
		if got := receive(t, subscription.Channel()).Payload; got != strconv.FormatInt(last.Sequence, 10) {
			t.Errorf("second announcement %q, want that of sequence %d", got, last.Sequence)
		}
	})
}

func TestPublishRefusesWhatDoesNotFit(t *testing.T) {
	t.Parallel()
	onEachBackend(t, func(t *testing.T, s *Store, client redis.UniversalClient) {
		noise := make([]byte, ruleset.MaxEncodedBytes)
		_, _ = rand.Read(noise)
		rs := policies("web=a")
		rs.IdentityKey = noise
		before := publish(t, s, policies("web=a"))
		if _, err := s.Publish(t.Context(), rs); !errors.Is(err, ruleset.ErrTooLarge) {
			t.Errorf("Publish of more than fits: %v, want ErrTooLarge", err)
		}
		if after := publish(t, s, policies("web=a")); after.Sequence != before.Sequence {
			t.Error("the refused rule set replaced the last one")
		}
	})
}

func TestScriptsSayWhatTheyDo(t *testing.T) {
	t.Parallel()
	for name, source := range map[string]string{
		"standing": standingSource, "publish": publishSource, "live": liveSource,
		"write_ack": writeAckSource, "read_acks": readAcksSource,
	} {
		for _, part := range []string{"-- KEYS[1]", "-- returns"} {
			if !bytes.Contains([]byte(source), []byte(part)) {
				t.Errorf("%s.lua has no %q in its header", name, part)
			}
		}
	}
}
