// Copyright The Penstock Authors.
// SPDX-License-Identifier: Apache-2.0

package proxy

import (
	"cmp"
	"slices"
	"sync"
	"time"
)

// maxHeaviest is how many identities are kept. One that has more than a 128th of all
// refusals is among them for certain.
const maxHeaviest = 128

// heaviest finds who is refused most, in fixed memory: the algorithm "space-saving" of
// Metwally, Agrawal and El Abbadi. A newcomer takes the place of the one with the
// fewest, and its count, which is then too high by at most that.
type heaviest struct {
	most int

	mu sync.Mutex
	// places is where each entry is.
	places  map[refusedBy]int
	entries []heavy
	// counts are those of the entries, apart so that looking for the fewest is quick: a
	// flood of identities makes each refusal do it.
	counts []int64
}

// heavy is one identity under one limit.
type heavy struct {
	refusedBy
	// count is how many refusals there were, in a list.
	count int64
	// excess is by how much count may be too high.
	excess int64
	last   time.Time
}

func newHeaviest(most int) *heaviest {
	return &heaviest{most: most, places: make(map[refusedBy]int, most)}
}

func (h *heaviest) add(by refusedBy, now time.Time) {
	h.mu.Lock()
	defer h.mu.Unlock()
	place, known := h.places[by]
	switch {
	case known:
	case len(h.entries) < h.most:
		place = len(h.entries)
		h.places[by] = place
		h.entries, h.counts = append(h.entries, heavy{refusedBy: by}), append(h.counts, 0)
	default:
		place = h.lightest()
		delete(h.places, h.entries[place].refusedBy)
		h.places[by] = place
		h.entries[place] = heavy{refusedBy: by, excess: h.counts[place]}
	}
	h.counts[place]++
	h.entries[place].last = now
}

// lightest is the place of the entry with the fewest refusals.
func (h *heaviest) lightest() int {
	found := 0
	for place, count := range h.counts {
		if count < h.counts[found] {
			found = place
		}
	}
	return found
}

// list returns all entries, the heaviest first.
func (h *heaviest) list() []heavy {
	h.mu.Lock()
	defer h.mu.Unlock()
	entries := slices.Clone(h.entries)
	for place := range entries {
		entries[place].count = h.counts[place]
	}
	slices.SortFunc(entries, func(a, b heavy) int {
		return cmp.Or(cmp.Compare(b.count-b.excess, a.count-a.excess), cmp.Compare(b.count, a.count), b.last.Compare(a.last),
			cmp.Compare(a.policy, b.policy), cmp.Compare(a.rule, b.rule), cmp.Compare(a.limit, b.limit), cmp.Compare(a.identity, b.identity))
	})
	return entries
}

// retain forgets what rules refused that are no more.
func (h *heaviest) retain(rules map[RuleName]bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	kept := 0
	for place, entry := range h.entries {
		delete(h.places, entry.refusedBy)
		if rules[RuleName{Policy: entry.policy, Rule: entry.rule}] {
			h.entries[kept], h.counts[kept] = entry, h.counts[place]
			h.places[entry.refusedBy] = kept
			kept++
		}
	}
	h.entries, h.counts = h.entries[:kept], h.counts[:kept]
}
