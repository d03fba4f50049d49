// Copyright The Penstock Authors.
// SPDX-License-Identifier: Apache-2.0

package limiter

import "slices"

// maxLogged is the most requests of a log: each has an entry.
const maxLogged = 10_000

// slidingWindowLog remembers when each request came, and admits while no more
// than its requests came within the last window's length: exactly, in any window.
type slidingWindowLog struct {
	terms
	requests, window, cost int64
}

func (w *slidingWindowLog) free() bool { return w.cost == 0 }

func (w *slidingWindowLog) appendArguments(arguments []any) []any {
	return w.appendTo(arguments, "log", w.capped(), w.requests, w.window)
}

// capped is the cost, or one that makes no difference.
func (w *slidingWindowLog) capped() int64 { return min(w.cost, w.most(w.requests)+1) }

func (w *slidingWindowLog) same(other plan) bool { return sameAs(w, other) }

func (w *slidingWindowLog) parts() int { return w.partsOf(5) }

// entriesPerCheck is how many entries the store writes down in the time of a check.
const entriesPerCheck = 16

// weight counts the entries that are written.
func (w *slidingWindowLog) weight() int {
	if w.cost > w.requests {
		return 1
	}
	return 1 + int(w.cost)/entriesPerCheck
}

// stand is decide.lua's part for a log: change both together. An entry of a later
// time, left by a clock that stepped back, counts as if it came now.
func (w *slidingWindowLog) stand(stored state, now int64) standing {
	live := stored.log[w.worn(stored.log, now):]
	count := int64(len(live))
	stand := standing{admits: w.cost <= w.requests-count, first: count}
	wears := func(i int64) int64 { return min(live[i], now) + w.window - now }
	if count > 0 {
		stand.second = wears(count - 1)
		stand.third = wears(max(0, count-w.requests))
	}
	if !stand.admits && w.cost <= w.requests {
		stand.fourth = wears(count + w.cost - w.requests - 1)
	}
	return stand
}

// worn is how many entries have worn off.
func (w *slidingWindowLog) worn(log []int64, now int64) int {
	first, _ := slices.BinarySearch(log, now-w.window+1)
	return first
}

func (w *slidingWindowLog) charge(stored state, _ standing, now int64) state {
	log := w.present(stored.log, now)
	for range w.cost {
		log = append(log, now)
	}
	return state{until: now + w.window, log: log}
}

// present is what counts of a log, with no entry of a later time.
func (w *slidingWindowLog) present(log []int64, now int64) []int64 {
	log = slices.Delete(log, 0, w.worn(log, now))
	for i := len(log) - 1; i >= 0 && log[i] > now; i-- {
		log[i] = now
	}
	return log
}

func (w *slidingWindowLog) cut(stored state, _ standing, now int64) (state, bool) {
	if last := len(stored.log) - 1; last < 0 || stored.log[last] <= now {
		return stored, false
	}
	return state{until: now + w.window, log: w.present(stored.log, now)}, true
}

func (w *slidingWindowLog) appendCorrection(arguments []any, _ standing) []any {
	return w.appendArguments(arguments)
}

// back removes the request's own entries.
func (w *slidingWindowLog) back(stored state, _ standing, charged, _ int64) state {
	end, _ := slices.BinarySearch(stored.log, charged+1)
	first := end
	for first > 0 && int64(end-first) < w.cost && stored.log[first-1] == charged {
		first--
	}
	stored.log = slices.Delete(stored.log, first, end)
	return stored
}

func (w *slidingWindowLog) late(stored state, now int64) state {
	log, at := stored.log, now
	live := int64(len(log) - w.worn(log, now))
	if len(log) > 0 {
		// The log stays in order, also after the clock stepped back.
		at = max(at, log[len(log)-1])
	}
	for range min(w.capped(), w.most(w.requests)-live) {
		log = append(log, at)
	}
	return state{until: at + w.window, log: log}
}

// aged is the same log before the first of its entries wears off.
func (w *slidingWindowLog) aged(stand standing, elapsed int64) standing {
	stand.second, stand.third, stand.fourth = stand.second-elapsed, stand.third-elapsed, stand.fourth-elapsed
	return stand
}

// ages is until fewer entries count. When a larger cost is admitted is known to
// the store only.
func (w *slidingWindowLog) ages(stand standing, cost int64) int64 {
	if cost != w.cost {
		return 0
	}
	return min(stand.third, stand.fourth)
}

func (w *slidingWindowLog) report(stand standing, charged bool) report {
	count := stand.first
	told := report{never: w.cost > w.requests, resetAfter: stand.second, nextAfter: stand.third, retryAfter: stand.fourth}
	if charged && w.cost > 0 {
		if count == 0 {
			told.nextAfter = w.window
		}
		count += w.cost
		told.resetAfter = w.window
	}
	told.remaining = max(0, w.requests-count)
	return told
}

func (w *slidingWindowLog) costing(cost int64) plan {
	other := *w
	other.cost = cost
	return &other
}
