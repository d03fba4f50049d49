// Copyright The Penstock Authors.
// SPDX-License-Identifier: Apache-2.0

package limiter

// fixedWindow admits requests in each window; windows follow one another from
// the Unix epoch on.
type fixedWindow struct {
	terms
	requests, window, cost int64
}

func (w *fixedWindow) free() bool { return w.cost == 0 }

func (w *fixedWindow) never() bool { return w.cost > w.requests }

func (w *fixedWindow) appendArguments(arguments []any) []any {
	return w.appendTo(arguments, "window", w.capped(), w.requests, w.window)
}

// capped is the cost, or one that makes no difference.
func (w *fixedWindow) capped() int64 { return min(w.cost, w.most(w.requests)+1) }

func (w *fixedWindow) same(other plan) bool { return sameAs(w, other) }

func (w *fixedWindow) parts() int { return w.partsOf(3) }

// stand is decide.lua's part for a window: change both together. The state of a
// later window, left by a clock that stepped back, counts as the present one.
func (w *fixedWindow) stand(stored state, now int64) standing {
	return w.standUntil(stored, now, w.end(now))
}

// end is when the window of a time ends.
func (w *fixedWindow) end(at int64) int64 { return at - at%w.window + w.window }

// standUntil is stand in a window with this end.
func (w *fixedWindow) standUntil(stored state, now, end int64) standing {
	count := int64(0)
	if stored.until >= end {
		count = min(stored.more, w.most(w.requests))
	}
	return standing{admits: w.cost <= w.requests-count, first: count, second: end - now}
}

func (w *fixedWindow) charge(_ state, stand standing, now int64) state {
	return state{until: now + stand.second, more: stand.first + w.cost}
}

func (w *fixedWindow) cut(stored state, stand standing, now int64) (state, bool) {
	end := now + stand.second
	return state{until: end, more: stand.first}, stored.until > end
}

func (w *fixedWindow) appendCorrection(arguments []any, _ standing) []any {
	return w.appendArguments(arguments)
}

// back gives the cost back while the window still counts.
func (w *fixedWindow) back(stored state, _ standing, charged, now int64) state {
	return w.backUntil(stored, now, w.end(charged), w.end(now))
}

func (w *fixedWindow) backUntil(stored state, now, chargedEnd, end int64) state {
	count := w.standUntil(stored, now, end).first
	if chargedEnd >= end {
		count = max(0, count-w.cost)
	}
	return state{until: end, more: count}
}

func (w *fixedWindow) late(stored state, now int64) state {
	return w.lateUntil(stored, now, w.end(now))
}

func (w *fixedWindow) lateUntil(stored state, now, end int64) state {
	count := w.standUntil(stored, now, end).first
	return state{until: end, more: min(count+w.capped(), w.most(w.requests))}
}

// aged is the same window, nearer to its end.
func (w *fixedWindow) aged(stand standing, elapsed int64) standing {
	stand.second = max(stand.second-elapsed, 1)
	return stand
}

func (w *fixedWindow) ages(stand standing, _ int64) int64 { return w.report(stand, false).retryAfter }

func (w *fixedWindow) report(stand standing, charged bool) report {
	count, left := stand.first, stand.second
	told := report{never: w.never()}
	if !stand.admits && !told.never {
		told.retryAfter = left
	}
	if charged {
		count += w.cost
	}
	told.remaining = max(0, w.requests-count)
	if count > 0 {
		told.resetAfter, told.nextAfter = left, left
	}
	return told
}

func (w *fixedWindow) costing(cost int64) plan {
	other := *w
	other.cost = cost
	return &other
}
