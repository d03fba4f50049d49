// Copyright The Penstock Authors.
// SPDX-License-Identifier: Apache-2.0

package limiter

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

// kept is how many counters a memory keeps, and how much they weigh.
func kept(m *Memory) (counters, weight int) {
	for i := range m.shards {
		counters += len(m.shards[i].counters)
		weight += m.shards[i].weight
	}
	return counters, weight
}

// requireSoundShards counts what a memory keeps track of.
func requireSoundShards(t rapid.TB, m *Memory) {
	t.Helper()
	for i := range m.shards {
		s := &m.shards[i]
		weight, filed := 0, 0
		for _, c := range s.counters {
			weight += weightOf(&c.state)
		}
		for number := range s.expiry.queues {
			due := int64(0)
			first := s.expiry.queues[number].first
			if waiting := s.expiry.waiting&(1<<number) != 0; waiting != (first != nil) {
				t.Errorf("queue %d is marked %t as waiting", number, waiting)
			}
			for c := first; c != nil; c = c.next {
				if s.counters[c.name] != c || c.due < due {
					t.Errorf("counter %+v is filed that is not kept, or out of order", c)
				}
				filed, due = filed+1, c.due
			}
		}
		if weight != s.weight || filed != len(s.counters) || s.fresh.first != nil {
			t.Errorf("shard %d: weight %d and %d counters filed, want %d and %d", i, s.weight, filed, weight, len(s.counters))
		}
		if s.weight > s.most && len(s.counters) > 1 {
			t.Errorf("shard %d weighs %d, want at most %d", i, s.weight, s.most)
		}
	}
}

func TestMemoryIsSafeForConcurrentUse(t *testing.T) {
	t.Parallel()
	limiter := NewMemory(nil, 50)
	var admitted atomic.Int64
	var running sync.WaitGroup
	for range 8 {
		running.Go(func() {
			for range 200 {
				decision, err := limiter.Decide(context.Background(), "shop", []Check{fixedWindowOf("a", 97, ages)})
				if err == nil && decision.Allowed {
					admitted.Add(1)
				}
			}
		})
	}
	running.Wait()
	if admitted.Load() != 97 {
		t.Errorf("admitted %d, want 97", admitted.Load())
	}
}

// TestShardsDecideAllOrNothing has many requests meet limits of three clients, which
// are in several shards, in different orders.
func TestShardsDecideAllOrNothing(t *testing.T) {
	t.Parallel()
	const most = 997
	limiter := NewMemory(nil, 0)
	var checks []Check
	for i := range 24 {
		checks = append(checks, fixedWindowOf(fmt.Sprint(i), most, ages))
	}
	var admitted atomic.Int64
	var running sync.WaitGroup
	for worker := range 8 {
		running.Go(func() {
			for i := range 400 {
				// Everyone meets the first limit and two others.
				met := []Check{checks[0], checks[1+(7*i+worker)%23], checks[1+(11*i+worker+1)%23]}
				slices.Reverse(met[i%3:])
				decision, err := limiter.Decide(context.Background(), "shop", met)
				if err == nil && decision.Allowed {
					admitted.Add(int64(len(decision.Limits)))
				}
			}
		})
	}
	running.Wait()
	var charged int64
	for _, check := range checks {
		charged += most - decide(t, limiter, costing(check, 0)).Limits[0].Remaining
	}
	if first := decide(t, limiter, costing(checks[0], 0)).Limits[0]; charged != admitted.Load() || first.Remaining != 0 {
		t.Errorf("%d were charged and %d left of the first, want %d and none", charged, first.Remaining, admitted.Load())
	}
	requireSoundShards(t, limiter)
}

func TestMemoryIsBounded(t *testing.T) {
	t.Parallel()
	for _, most := range []int{1, 2, 50, 2000, 2048, 40_000} {
		t.Run(fmt.Sprint(most), func(t *testing.T) {
			t.Parallel()
			limiter := NewMemory(nil, most)
			for i := range 2*most + 100 {
				decide(t, limiter, tokenBucketOf(fmt.Sprint(i), 1, 9, ages))
			}
			counters, weight := kept(limiter)
			if forgotten := limiter.Forgotten(); counters != most || weight != most || forgotten != int64(most+100) {
				t.Errorf("%d counters of weight %d are kept and %d were forgotten, want %d and %d", counters, weight, forgotten, most, most+100)
			}
			requireSoundShards(t, limiter)
		})
	}
}

func TestMemoryBoundsTheEntriesOfLogs(t *testing.T) {
	t.Parallel()
	const most = 100
	limiter := NewMemory(nil, most)
	for i := range 200 {
		decide(t, limiter, costing(slidingWindowLogOf(fmt.Sprint(i), 1000, ages), 100))
		requireSoundShards(t, limiter)
	}
	entries := 0
	for _, c := range limiter.shards[0].counters {
		entries += len(c.state.log)
	}
	if entries > most*loggedPerKey || entries < most*loggedPerKey/2 || limiter.Forgotten() == 0 {
		t.Errorf("%d entries are kept, want up to %d", entries, most*loggedPerKey)
	}
}

func TestMemoryBoundsThePlaces(t *testing.T) {
	t.Parallel()
	const most = 100
	limiter := NewMemory(nil, most)
	for i := range 200 {
		decide(t, limiter, costing(concurrencyOf(fmt.Sprint(i), 1000), 10)).Receipt.abandon()
		requireSoundShards(t, limiter)
	}
	if _, weight := kept(limiter); weight > most {
		t.Errorf("places weigh %d, want at most %d", weight, most)
	}
}

// TestALongLogIsKept has one client fill more of a log than a small memory holds.
func TestALongLogIsKept(t *testing.T) {
	t.Parallel()
	limiter := NewMemory(nil, 10)
	check := slidingWindowLogOf("a", 1000, ages)
	decide(t, limiter, costing(check, 1000))
	if got := decide(t, limiter, check); got.Allowed {
		t.Errorf("a full log admitted: %+v", got)
	}
}

// TestLogsShrink has a log of many entries wear off.
func TestLogsShrink(t *testing.T) {
	t.Parallel()
	now := time.UnixMicro(present)
	limiter := NewMemory(func() time.Time { return now }, 0)
	check := slidingWindowLogOf("a", maxLogged, time.Second)
	decide(t, limiter, costing(check, maxLogged))
	now = now.Add(time.Second)
	decide(t, limiter, check)
	if _, weight := kept(limiter); weight > 2 {
		t.Errorf("a log with one entry weighs %d", weight)
	}
}

// TestABoundedMemoryAdmitsNoMore compares one with little room, and so with counters
// that make room, to one that keeps everything.
func TestABoundedMemoryAdmitsNoMore(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(r *rapid.T) {
		at := present
		now := func() time.Time { return time.UnixMicro(at) }
		most := rapid.SampledFrom([]int{3, 10, 40, 3000, 20_000}).Draw(r, "most")
		bounded, unbounded := NewMemory(now, most), NewMemory(now, 10_000_000)
		for range rapid.IntRange(5, 60).Draw(r, "requests") {
			at += rapid.OneOf(rapid.Just(int64(0)), rapid.Int64Range(0, 2_000_000)).Draw(r, "step")
			var checks []Check
			for range rapid.IntRange(1, 6).Draw(r, "limits") {
				client := fmt.Sprint(rapid.IntRange(0, 20).Draw(r, "client"))
				all := checksOf(client, 5, 3, time.Second)
				checks = append(checks, costing(rapid.SampledFrom(all).Draw(r, "limit"), rapid.Int64Range(0, 3).Draw(r, "cost")))
			}
			got, want := decideBoth(t, bounded, checks), decideBoth(t, unbounded, checks)
			if bounded.Forgotten() == 0 {
				if diff := cmp.Diff(want, got); diff != "" {
					r.Fatalf("nothing was forgotten, but decisions differ (-unbounded +bounded):\n%s", diff)
				}
			} else if most >= 3000 {
				r.Fatalf("%d of at most %d counters were forgotten", bounded.Forgotten(), most)
			}
			requireSoundShards(r, bounded)
			if bounded.Forgotten() > 0 {
				// From here on they have counted different requests.
				return
			}
		}
	})
}

// decideBoth is a decision without what only this one has.
func decideBoth(t *testing.T, limiter *Memory, checks []Check) Decision {
	t.Helper()
	got := decide(t, limiter, checks...)
	got.Receipt.abandon()
	got.Receipt = nil
	return got
}

// BenchmarkMemoryParallel is a decision without a store, by many at once, of clients
// that come again and of ones that are always new.
func BenchmarkMemoryParallel(b *testing.B) {
	for _, clients := range []int{1000, 1_000_000} {
		checks := make([][]Check, clients)
		for i := range checks {
			checks[i] = []Check{tokenBucketOf(fmt.Sprint(i), 100, 100, time.Second)}
		}
		for _, callers := range []int{1, 8} {
			b.Run(fmt.Sprintf("%d clients/%d callers", clients, callers), func(b *testing.B) {
				limiter := NewMemory(nil, 0)
				var left atomic.Int64
				left.Store(int64(b.N))
				b.ReportAllocs()
				b.ResetTimer()
				var running sync.WaitGroup
				for caller := range callers {
					running.Go(func() {
						for i := caller * clients / callers; left.Add(-1) >= 0; i++ {
							if _, err := limiter.Decide(context.Background(), "shop", checks[i%clients]); err != nil {
								b.Error(err)
								return
							}
						}
					})
				}
				running.Wait()
			})
		}
	}
}
