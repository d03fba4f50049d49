// Copyright The Penstock Authors.
// SPDX-License-Identifier: Apache-2.0

package proxy

import (
	"math/rand/v2"
	"strconv"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// TestHeaviestHoldsWhatItPromises compares with exact counts under a flood of
// identities of which each comes once.
func TestHeaviestHoldsWhatItPromises(t *testing.T) {
	t.Parallel()
	const most, total = 16, 20_000
	sketch, exact := newHeaviest(most), make(map[refusedBy]int64)
	random := rand.New(rand.NewPCG(1, 2))
	for i := range total {
		by := refusedBy{policy: "web", rule: "all", limit: "minute", identity: "flood" + strconv.Itoa(i)}
		if draw := random.IntN(100); draw < 40 {
			by.identity = "heavy" + strconv.Itoa(draw%4)
		}
		exact[by]++
		sketch.add(by, time.Unix(int64(i), 0))
	}
	entries := sketch.list()
	if len(entries) != most {
		t.Fatalf("%d entries, want %d", len(entries), most)
	}
	found := make(map[string]bool)
	for i, entry := range entries {
		found[entry.identity] = true
		if want := exact[entry.refusedBy]; entry.count < want || entry.count-entry.excess > want {
			t.Errorf("%s has %d to %d, exactly %d", entry.identity, entry.count-entry.excess, entry.count, want)
		}
		if i > 0 && entry.count-entry.excess > entries[i-1].count-entries[i-1].excess {
			t.Errorf("%s is after a lighter one", entry.identity)
		}
	}
	for by, count := range exact {
		if count > total/most && !found[by.identity] {
			t.Errorf("%s has %d of %d refusals and is not among the %d heaviest", by.identity, count, total, most)
		}
	}
}

func TestHeaviestForgetsRulesThatAreNoMore(t *testing.T) {
	t.Parallel()
	sketch, now := newHeaviest(4), time.Unix(1000, 0)
	gone, kept := refusedBy{policy: "web", rule: "gone"}, refusedBy{policy: "web", rule: "kept", identity: "a"}
	for range 3 {
		sketch.add(gone, now)
		sketch.add(kept, now)
	}
	sketch.retain(map[RuleName]bool{{Policy: "web", Rule: "kept"}: true})
	sketch.add(kept, now)
	sketch.add(gone, now)
	want := []heavy{{refusedBy: kept, count: 4, last: now}, {refusedBy: gone, count: 1, last: now}}
	if diff := cmp.Diff(want, sketch.list(), cmp.AllowUnexported(heavy{}, refusedBy{})); diff != "" {
		t.Errorf("entries (-want +got):\n%s", diff)
	}
}

func BenchmarkHeaviestFlood(b *testing.B) {
	sketch, now := newHeaviest(maxHeaviest), time.Now()
	for i := range b.N {
		sketch.add(refusedBy{policy: "web", rule: "all", limit: "minute", identity: strconv.Itoa(i)}, now)
	}
}
