// Copyright The Penstock Authors.
// SPDX-License-Identifier: Apache-2.0

package store

import (
	"context"
	"net"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/penstock-dev/penstock/internal/ruleset"
	"github.com/penstock-dev/penstock/test/redistest"
)

// watched is a running Watch and what comes out of it.
type watched struct {
	inForce *InForce
	updates chan Update
	reports chan error
	stop    func()
}

func watch(t *testing.T, s *Store, poll time.Duration) *watched {
	t.Helper()
	w := &watched{updates: make(chan Update, 100), reports: make(chan error, 100)}
	w.inForce = NewInForce(shop, Events{Apply: func(update Update) error {
		w.updates <- update
		return nil
	}})
	w.stop = start(t, func(ctx context.Context) {
		s.Watch(ctx, w.inForce, WatchOptions{
			Poll: poll, Retry: 50 * time.Millisecond, BodyDelay: time.Millisecond,
			Report: func(err error) { w.reports <- err },
		})
	})
	return w
}

func TestWatchGetsWhatStandsAndWhatIsAnnounced(t *testing.T) {
	t.Parallel()
	onEachBackend(t, func(t *testing.T, s *Store, _ redis.UniversalClient) {
		first := publish(t, s, policies("web=a"))
		// The next poll would be in an hour: only announcements come through.
		w := watch(t, s, time.Hour)
		if got := receive(t, w.updates); got.Sequence != first.Sequence || got.RuleSet.Policies[0].Revision != "a" {
			t.Errorf("first update %+v is not the first publication", got)
		}
		second := publish(t, s, policies("web=b"))
		if got := receive(t, w.updates); got.Sequence != second.Sequence || got.RuleSet.Policies[0].Revision != "b" {
			t.Errorf("second update %+v is not the second publication", got)
		}
	})
}

func TestWatchPollsForLostAnnouncements(t *testing.T) {
	t.Parallel()
	onEachBackend(t, func(t *testing.T, s *Store, client redis.UniversalClient) {
		first := publish(t, s, policies("web=a"))
		w := watch(t, s, 20*time.Millisecond)
		receive(t, w.updates)
		silently(t, client, snapshot(t, first.Sequence+1, policies("web=b")))
		if got := receive(t, w.updates); got.Sequence != first.Sequence+1 {
			t.Errorf("update %+v, want sequence %d", got, first.Sequence+1)
		}
		if err := s.SetLive(t.Context(), shop, map[string]int64{PolicyKey(kind, "web"): 2}); err != nil {
			t.Fatal(err)
		}
		if got := receive(t, w.updates); got.LivePods[PolicyKey(kind, "web")] != 2 {
			t.Errorf("live pods %v, want 2", got.LivePods)
		}
	})
}

// silently writes a publication without announcing it.
func silently(t *testing.T, client redis.UniversalClient, published ruleset.Published) {
	t.Helper()
	err := client.HSet(t.Context(), rulesKey, "sequence", published.Sequence,
		"revision", published.Revision, "format", ruleset.Format, "body", published.Body).Err()
	if err != nil {
		t.Fatal(err)
	}
}

func TestWatchKeepsTheRuleSetWhenTheKeyIsGoneOrOlder(t *testing.T) {
	t.Parallel()
	onEachBackend(t, func(t *testing.T, s *Store, client redis.UniversalClient) {
		first := publish(t, s, policies("web=a"))
		polls := countReads(client)
		w := watch(t, s, 5*time.Millisecond)
		receive(t, w.updates)
		if err := client.Del(t.Context(), rulesKey).Err(); err != nil {
			t.Fatal(err)
		}
		polls.await(t, 3)
		silently(t, client, snapshot(t, first.Sequence-1, policies("web=older")))
		polls.await(t, 3)
		if got := w.inForce.Standing(); got.Sequence != first.Sequence || got.Problem != "" {
			t.Errorf("standing %+v, want sequence %d without a problem", got, first.Sequence)
		}
		if err := client.Del(t.Context(), rulesKey).Err(); err != nil {
			t.Fatal(err)
		}
		back := publish(t, s, policies("web=a"))
		if got := receive(t, w.updates); got.Sequence != back.Sequence {
			t.Errorf("update %+v, want the one written back, %d", got, back.Sequence)
		}
	})
}

func TestWatchReadsBodiesOnlyWhenTheyChange(t *testing.T) {
	t.Parallel()
	onEachBackend(t, func(t *testing.T, s *Store, client redis.UniversalClient) {
		publish(t, s, policies("web=a"))
		reads := countReads(client)
		w := watch(t, s, 5*time.Millisecond)
		receive(t, w.updates)
		reads.await(t, 10)
		if got := reads.bodies.Load(); got != 1 {
			t.Errorf("%d bodies were read for one publication, want 1", got)
		}
		w.stop()
	})
}

func TestWatchReadsABodyThatIsOfNoUseOnce(t *testing.T) {
	t.Parallel()
	onEachBackend(t, func(t *testing.T, s *Store, client redis.UniversalClient) {
		first := publish(t, s, policies("web=a"))
		reads := countReads(client)
		w := watch(t, s, 5*time.Millisecond)
		receive(t, w.updates)
		silently(t, client, ruleset.Published{Sequence: first.Sequence + 1, Revision: "damaged", Body: []byte("x")})
		if err := receive(t, w.reports); err == nil {
			t.Error("a damaged body was not reported")
		}
		reads.await(t, 10)
		if got := reads.bodies.Load(); got != 2 {
			t.Errorf("%d bodies were read, want 2", got)
		}
		want := Standing{Sequence: first.Sequence, Revision: first.Revision, Problem: ProblemInvalidRuleSet}
		if got := w.inForce.Standing(); got != want {
			t.Errorf("standing %+v, want %+v", got, want)
		}
	})
}

func TestWatchSurvivesAnOutage(t *testing.T) {
	t.Parallel()
	server := redistest.Start(t)
	s := New(server.Client(t), "")
	first := publish(t, s, policies("web=a"))
	w := watch(t, s, 20*time.Millisecond)
	receive(t, w.updates)
	server.Stop()
	if err := receive(t, w.reports); err == nil {
		t.Error("an outage was not reported")
	}
	server.Restart()
	if err := receive(t, w.reports); err != nil {
		t.Errorf("report %v, want that it works again", err)
	}
	if got := w.inForce.Standing().Sequence; got != first.Sequence {
		t.Errorf("sequence %d in force after the outage, want %d", got, first.Sequence)
	}
	second := publish(t, s, policies("web=a"))
	if got := receive(t, w.updates); got.Sequence != second.Sequence {
		t.Errorf("update %+v after the outage, want sequence %d", got, second.Sequence)
	}
}

func TestWatchStartsWhileTheStoreIsGone(t *testing.T) {
	t.Parallel()
	server := redistest.Start(t)
	server.Stop()
	s := New(server.Client(t), "")
	w := watch(t, s, time.Hour)
	if err := receive(t, w.reports); err == nil {
		t.Error("an unreachable store was not reported")
	}
	server.Restart()
	first := publish(t, s, policies("web=a"))
	if got := receive(t, w.updates); got.Sequence != first.Sequence {
		t.Errorf("update %+v, want sequence %d", got, first.Sequence)
	}
}

// reads counts what a watch reads from the store.
type reads struct {
	all    atomic.Int64
	bodies atomic.Int64
}

func countReads(client redis.UniversalClient) *reads {
	counted := &reads{}
	client.AddHook(counted)
	return counted
}

func (r *reads) DialHook(next redis.DialHook) redis.DialHook {
	return func(ctx context.Context, network, addr string) (net.Conn, error) { return next(ctx, network, addr) }
}

func (r *reads) ProcessPipelineHook(next redis.ProcessPipelineHook) redis.ProcessPipelineHook {
	return next
}

func (r *reads) ProcessHook(next redis.ProcessHook) redis.ProcessHook {
	return func(ctx context.Context, command redis.Cmder) error {
		if command.Name() == "hmget" {
			r.all.Add(1)
			if slices.Contains(command.Args(), any("body")) {
				r.bodies.Add(1)
			}
		}
		return next(ctx, command)
	}
}

// await waits for this many further reads.
func (r *reads) await(t *testing.T, further int64) {
	t.Helper()
	want := r.all.Load() + further
	for deadline := time.Now().Add(10 * time.Second); r.all.Load() < want; {
		if time.Now().After(deadline) {
			t.Fatalf("%d reads of the store within 10 s, want %d", r.all.Load(), want)
		}
		<-time.After(time.Millisecond)
	}
}

// TestWatchConfirmsWhatIsStillTheNewest looks at each poll that finds nothing newer,
// and at those of a store that has lost its data, which say nothing.
func TestWatchConfirmsWhatIsStillTheNewest(t *testing.T) {
	t.Parallel()
	onEachBackend(t, func(t *testing.T, s *Store, client redis.UniversalClient) {
		publish(t, s, policies("web=a"))
		var confirmed atomic.Int64
		inForce := NewInForce(shop, Events{
			Apply:     func(Update) error { return nil },
			Confirmed: func() { confirmed.Add(1) },
		})
		polls := countReads(client)
		start(t, func(ctx context.Context) {
			s.Watch(ctx, inForce, WatchOptions{Poll: 5 * time.Millisecond, BodyDelay: time.Millisecond})
		})
		// The first poll puts it in force, with a second read for the body.
		polls.await(t, 6)
		if confirmed.Load() == 0 {
			t.Error("polls that found nothing newer confirmed nothing")
		}
		if err := client.Del(t.Context(), rulesKey).Err(); err != nil {
			t.Fatal(err)
		}
		polls.await(t, 3)
		before := confirmed.Load()
		polls.await(t, 3)
		if after := confirmed.Load(); after != before {
			t.Errorf("%d polls of a store without rules confirmed them", after-before)
		}
	})
}
