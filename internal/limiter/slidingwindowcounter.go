// Copyright The Penstock Authors.
// SPDX-License-Identifier: Apache-2.0

package limiter

import (
	"math/bits"

	"github.com/penstock-dev/penstock/internal/ruleset"
)

// slidingWindowCounter counts in windows that follow one another from the Unix
// epoch on. Of the window before it takes the share that lies within the last
// window's length, as if its requests had come evenly. Time is counted in steps,
// and a step counts once it is over: so it never admits what exact time refuses.
type slidingWindowCounter struct {
	terms
	requests, window, cost int64
	// step is in microseconds; steps is how many a window has, rounded up.
	step, steps int64
}

func newSlidingWindowCounter(terms terms, requests, window, cost int64) *slidingWindowCounter {
	step := ruleset.StepMicros(requests, window)
	if terms.has(overdrawn) {
		// Up to twice the requests are counted, and refused costs are as large.
		step = ruleset.StepMicros(4*requests, window)
	}
	return &slidingWindowCounter{
		terms: terms, requests: requests, window: window, cost: cost,
		step: step, steps: (window + step - 1) / step,
	}
}

func (w *slidingWindowCounter) free() bool { return w.cost == 0 }

func (w *slidingWindowCounter) appendArguments(arguments []any) []any {
	return w.appendTo(arguments, "counter", w.capped(), w.requests, w.window, w.step, w.steps)
}

// capped is the cost, or one that makes no difference.
func (w *slidingWindowCounter) capped() int64 { return min(w.cost, w.most(w.requests)+1) }

func (w *slidingWindowCounter) same(other plan) bool { return sameAs(w, other) }

func (w *slidingWindowCounter) parts() int { return w.partsOf(4) }

// stand is decide.lua's part for a counter: change both together. The state is
// unused from the end of the window after its own. That of a later window, left by
// a clock that stepped back, counts as the present one.
func (w *slidingWindowCounter) stand(stored state, now int64) standing {
	elapsed := now % w.window
	before, count := w.counted(stored, now-elapsed)
	free := w.requests - count - w.capped()
	return standing{
		admits: before*(w.steps-elapsed/w.step) <= free*w.steps,
		first:  before, second: count, third: elapsed,
	}
}

// counted are the requests of the window before the one that began at start, and of
// that one.
func (w *slidingWindowCounter) counted(stored state, start int64) (before, count int64) {
	most := w.most(w.requests)
	switch began := stored.until - 2*w.window; {
	case began >= start:
		return min(stored.before, most), min(stored.more, most)
	case began >= start-w.window:
		return min(stored.more, most), 0
	}
	return 0, 0
}

func (w *slidingWindowCounter) charge(_ state, stand standing, now int64) state {
	return state{until: now - stand.third + 2*w.window, more: stand.second + w.cost, before: stand.first}
}

func (w *slidingWindowCounter) cut(stored state, stand standing, now int64) (state, bool) {
	until := now - stand.third + 2*w.window
	return state{until: until, more: stand.second, before: stand.first}, stored.until > until
}

func (w *slidingWindowCounter) appendCorrection(arguments []any, _ standing) []any {
	return w.appendArguments(arguments)
}

// back gives the cost back while its window still counts, as this one or the one
// before.
func (w *slidingWindowCounter) back(stored state, _ standing, charged, now int64) state {
	start := now - now%w.window
	before, count := w.counted(stored, start)
	switch began := charged - charged%w.window; {
	case began >= start:
		count = max(0, count-w.cost)
	case began == start-w.window:
		before = max(0, before-w.cost)
	}
	return state{until: start + 2*w.window, more: count, before: before}
}

func (w *slidingWindowCounter) late(stored state, now int64) state {
	start := now - now%w.window
	before, count := w.counted(stored, start)
	return state{until: start + 2*w.window, more: min(count+w.capped(), w.most(w.requests)), before: before}
}

// aged is the same window, nearer to its end, or one after it.
func (w *slidingWindowCounter) aged(stand standing, elapsed int64) standing {
	stand.third += elapsed
	for stand.third >= w.window && stand.first+stand.second > 0 {
		stand.first, stand.second, stand.third = stand.second, 0, stand.third-w.window
	}
	stand.third %= w.window
	return stand
}

func (w *slidingWindowCounter) ages(stand standing, _ int64) int64 {
	return w.report(stand, false).retryAfter
}

func (w *slidingWindowCounter) report(stand standing, charged bool) report {
	before, count, elapsed := stand.first, stand.second, stand.third
	told := report{never: w.cost > w.requests}
	if !stand.admits && !told.never {
		told.retryAfter = w.wait(before, count, elapsed, w.cost)
	}
	if charged {
		count += w.cost
	}
	weighed := mulDivUp(before, w.steps-elapsed/w.step, w.steps)
	told.remaining = max(0, w.requests-count-weighed)
	if told.remaining < w.requests {
		told.nextAfter = w.wait(before, count, elapsed, told.remaining+1)
		told.resetAfter = w.wait(before, count, elapsed, w.requests)
	}
	return told
}

// wait is the time until a cost is admitted that is at most the requests.
func (w *slidingWindowCounter) wait(before, count, elapsed, cost int64) int64 {
	if at, ok := w.admittedAt(before, count, cost); ok {
		return max(0, at-elapsed)
	}
	if at, ok := w.admittedAt(count, 0, cost); ok {
		return w.window - elapsed + at
	}
	return 2*w.window - elapsed
}

// admittedAt is how long after its start a window with these counts admits the
// cost, and false if it does not before its end.
func (w *slidingWindowCounter) admittedAt(before, count, cost int64) (int64, bool) {
	over := before + count + cost - w.requests
	switch {
	case over <= 0:
		return 0, true
	case over >= before:
		return 0, false
	}
	past := mulDivUp(over, w.steps, before)
	return past * w.step, past*w.step < w.window
}

// mulDivUp is a × b ÷ c, rounded up. It is exact where it fits 63 bits.
func mulDivUp(a, b, c int64) int64 {
	high, low := bits.Mul64(uint64(a), uint64(b))
	quotient, rest := bits.Div64(high, low, uint64(c))
	if rest > 0 {
		quotient++
	}
	return int64(quotient)
}

func (w *slidingWindowCounter) costing(cost int64) plan {
	other := *w
	other.cost = cost
	return &other
}
