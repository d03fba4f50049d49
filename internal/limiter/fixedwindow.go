// Copyright The Penstock Authors.
// SPDX-License-Identifier: Apache-2.0

package limiter

// fixedWindow admits requests in each window; windows follow one another from
// the Unix epoch on.
type fixedWindow struct {
	requests, window, cost int64
}

func (w *fixedWindow) free() bool { return w.cost == 0 }

func (w *fixedWindow) never() bool { return w.cost > w.requests }

func (w *fixedWindow) appendArguments(arguments []any) []any {
	return append(arguments, "window", min(w.cost, w.requests+1), w.requests, w.window)
}

func (w *fixedWindow) parts() int { return 3 }

// stand is decide.lua's function window: change both together. The state of a
// later window, left by a clock that stepped back, counts as the present one.
func (w *fixedWindow) stand(stored state, now int64) standing {
	return w.standUntil(stored, now, now-now%w.window+w.window)
}

// standUntil is stand in a window with this end.
func (w *fixedWindow) standUntil(stored state, now, end int64) standing {
	count := int64(0)
	if stored.until >= end {
		count = min(stored.more, w.requests)
	}
	return standing{admits: w.cost <= w.requests-count, first: count, second: end - now}
}

func (w *fixedWindow) charge(_ state, stand standing, now int64) state {
	return state{until: now + stand.second, more: stand.first + w.cost}
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
	told.remaining = w.requests - count
	if count > 0 {
		told.resetAfter, told.nextAfter = left, left
	}
	return told
}
