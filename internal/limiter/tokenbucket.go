// Copyright The Penstock Authors.
// SPDX-License-Identifier: Apache-2.0

package limiter

import "math/bits"

// farthest bounds spans, so that adding a few to the time of day never overflows.
// Only a share of a limit can reach it: see share.
const farthest = 1 << 60

// tokenBucket holds up to burst tokens and refills steadily. Its state is the
// time when it will be full again: every charge moves that time by what the cost
// takes to refill, and a request is admitted while the time stays within what an
// empty bucket takes. One request rarely takes whole microseconds, so spans are
// pairs, and no rounding ever builds up.
type tokenBucket struct {
	terms
	// unit is how many parts a microsecond has: requests ÷ gcd(requests, window).
	unit uint64
	// perRequest is what one request takes to refill, in parts.
	perRequest uint64
	burst      int64
	// cost and empty are what the cost and the whole burst take to refill.
	cost, empty span
	// limit is the most that a bucket can lack: empty, or twice that where late
	// charges come.
	limit       span
	never, look bool
}

// span is a length of time: whole microseconds and parts of the bucket's unit.
type span struct{ whole, parts int64 }

func (s span) exceeds(other span) bool {
	return s.whole > other.whole || s.whole == other.whole && s.parts > other.parts
}

// ceiling is the first whole microsecond at or after the span's end.
func (s span) ceiling() int64 {
	if s.parts > 0 {
		return s.whole + 1
	}
	return s.whole
}

// newTokenBucket refills requests tokens in each window of microseconds.
func newTokenBucket(terms terms, requests, window uint64, burst, cost int64) *tokenBucket {
	common := gcd(requests, window)
	b := &tokenBucket{terms: terms, unit: requests / common, perRequest: window / common, burst: burst}
	b.empty = b.refill(burst)
	b.limit = b.empty
	if b.has(overdrawn) {
		b.limit = b.add(b.empty, b.empty)
	}
	b.price(cost)
	return b
}

func (b *tokenBucket) price(cost int64) {
	b.cost, b.never, b.look = b.refill(cost), cost > b.burst, cost == 0
	if b.never && b.cost.exceeds(b.limit) {
		// Whatever is more than a bucket can lack makes no difference.
		b.cost = span{whole: b.limit.whole + 1, parts: b.limit.parts}
	}
}

func gcd(a, b uint64) uint64 {
	for b != 0 {
		a, b = b, a%b
	}
	return a
}

// refill is what count tokens take to come back, exactly.
func (b *tokenBucket) refill(count int64) span {
	high, low := bits.Mul64(uint64(count), b.perRequest)
	if high >= b.unit {
		return span{whole: farthest}
	}
	whole, parts := bits.Div64(high, low, b.unit)
	if whole >= farthest {
		return span{whole: farthest}
	}
	return span{whole: int64(whole), parts: int64(parts)}
}

func (b *tokenBucket) add(one, other span) span {
	sum := span{whole: one.whole + other.whole, parts: one.parts + other.parts}
	if sum.parts >= int64(b.unit) {
		sum.whole, sum.parts = sum.whole+1, sum.parts-int64(b.unit)
	}
	return sum
}

func (b *tokenBucket) subtract(one, other span) span {
	rest := span{whole: one.whole - other.whole, parts: one.parts - other.parts}
	if rest.parts < 0 {
		rest.whole, rest.parts = rest.whole-1, rest.parts+int64(b.unit)
	}
	return rest
}

func (b *tokenBucket) free() bool { return b.look }

func (b *tokenBucket) appendArguments(arguments []any) []any {
	if b.has(leased) {
		one := b.refill(1)
		return b.appendTo(arguments, "bucket", b.cost.whole, b.cost.parts, b.empty.whole, b.empty.parts, int64(b.unit), one.whole, one.parts)
	}
	return b.appendTo(arguments, "bucket", b.cost.whole, b.cost.parts, b.empty.whole, b.empty.parts, int64(b.unit))
}

func (b *tokenBucket) same(other plan) bool { return sameAs(b, other) }

func (b *tokenBucket) parts() int { return b.partsOf(3) }

// stand is decide.lua's part for a bucket: change both together.
func (b *tokenBucket) stand(stored state, now int64) standing {
	debt := b.debt(stored, now)
	return standing{admits: !b.add(debt, b.cost).exceeds(b.empty), first: debt.whole, second: debt.parts}
}

// debt is the time until the bucket is full.
func (b *tokenBucket) debt(stored state, now int64) span {
	debt := b.untilFull(stored, now)
	switch {
	case debt.whole < 0:
		return span{}
	case debt.exceeds(b.limit):
		return b.limit
	}
	return debt
}

func (b *tokenBucket) untilFull(stored state, now int64) span {
	if stored.more >= int64(b.unit) {
		return span{whole: stored.until - now + 1}
	}
	return span{whole: stored.until - now, parts: stored.more}
}

func (b *tokenBucket) charge(_ state, stand standing, now int64) state {
	return fullAfter(b.add(span{whole: stand.first, parts: stand.second}, b.cost), now)
}

func fullAfter(debt span, now int64) state { return state{until: now + debt.whole, more: debt.parts} }

func (b *tokenBucket) cut(stored state, stand standing, now int64) (state, bool) {
	if !b.has(settled) || !b.untilFull(stored, now).exceeds(b.limit) {
		return stored, false
	}
	return fullAfter(span{whole: stand.first, parts: stand.second}, now), true
}

func (b *tokenBucket) appendCorrection(arguments []any, _ standing) []any {
	return b.appendArguments(arguments)
}

// back gives back what did not wear off meanwhile.
func (b *tokenBucket) back(stored state, _ standing, charged, now int64) state {
	debt := b.debt(stored, now)
	left := b.cost
	left.whole -= max(0, now-charged)
	if left.whole < 0 {
		return fullAfter(debt, now)
	}
	debt = b.subtract(debt, left)
	if debt.whole < 0 {
		debt = span{}
	}
	return fullAfter(debt, now)
}

func (b *tokenBucket) late(stored state, now int64) state {
	debt := b.add(b.debt(stored, now), b.cost)
	if debt.exceeds(b.limit) {
		debt = b.limit
	}
	return fullAfter(debt, now)
}

// aged is a bucket that refills meanwhile.
func (b *tokenBucket) aged(stand standing, elapsed int64) standing {
	stand.first -= elapsed
	if stand.first < 0 {
		stand.first, stand.second = 0, 0
	}
	return stand
}

func (b *tokenBucket) ages(stand standing, _ int64) int64 { return b.report(stand, false).retryAfter }

func (b *tokenBucket) report(stand standing, charged bool) report {
	debt := span{whole: stand.first, parts: stand.second}
	told := report{never: b.never}
	if !stand.admits && !b.never {
		told.retryAfter = b.subtract(b.add(debt, b.cost), b.empty).ceiling()
	}
	if charged {
		debt = b.add(debt, b.cost)
	}
	taken := b.tokens(debt)
	told.remaining = max(0, b.burst-taken)
	told.resetAfter = debt.ceiling()
	if taken > 0 {
		told.nextAfter = b.subtract(debt, b.refill(taken-1)).ceiling()
	}
	return told
}

// tokens is how many tokens a bucket lacks that is full again after debt; a part
// of a token counts as one.
func (b *tokenBucket) tokens(debt span) int64 {
	high, low := bits.Mul64(uint64(debt.whole), b.unit)
	low, carry := bits.Add64(low, uint64(debt.parts), 0)
	high += carry
	if high >= b.perRequest {
		return b.burst
	}
	count, rest := bits.Div64(high, low, b.perRequest)
	if rest > 0 {
		count++
	}
	return int64(min(count, uint64(b.burst)))
}

func (b *tokenBucket) costing(cost int64) plan {
	other := *b
	other.price(cost)
	return &other
}
