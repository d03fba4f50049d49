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

	mu      sync.Mutex
	entries map[refusedBy]*heavy
}

// heavy is one identity under one limit.
type heavy struct {
	refusedBy
	count int64
	// excess is by how much count may be too high.
	excess int64
	last   time.Time
}

func newHeaviest(most int) *heaviest {
	return &heaviest{most: most, entries: make(map[refusedBy]*heavy, most)}
}

func (h *heaviest) add(by refusedBy, now time.Time) {
	h.mu.Lock()
	defer h.mu.Unlock()
	entry := h.entries[by]
	switch {
	case entry != nil:
	case len(h.entries) < h.most:
		entry = &heavy{refusedBy: by}
		h.entries[by] = entry
	default:
		entry = h.lightest()
		delete(h.entries, entry.refusedBy)
		entry.refusedBy, entry.excess = by, entry.count
		h.entries[by] = entry
	}
	entry.count++
	entry.last = now
}

// lightest is the entry with the fewest refusals, of several the one seen longest ago.
func (h *heaviest) lightest() *heavy {
	var found *heavy
	for _, entry := range h.entries {
		if found == nil || entry.count < found.count || entry.count == found.count && entry.last.Before(found.last) {
			found = entry
		}
	}
	return found
}

// list returns all entries, the heaviest first.
func (h *heaviest) list() []heavy {
	h.mu.Lock()
	defer h.mu.Unlock()
	entries := make([]heavy, 0, len(h.entries))
	for _, entry := range h.entries {
		entries = append(entries, *entry)
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
	for by := range h.entries {
		if !rules[RuleName{Policy: by.policy, Rule: by.rule}] {
			delete(h.entries, by)
		}
	}
}
