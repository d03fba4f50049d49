// Copyright The Penstock Authors.
// SPDX-License-Identifier: Apache-2.0

package model

import (
	"math/big"
	"slices"

	"github.com/penstock-dev/penstock/internal/ruleset"
)

// tokenBucket holds up to burst tokens, and is used by as many as it lacks. A
// LeakyBucket counts the same way.
type tokenBucket struct {
	// full is when the bucket is full again; nil is full.
	full  *big.Rat
	bound bound
	// left are requests of a LeakyBucket that left while others stood behind them.
	left []turn
}

// turn is the time that a request of a LeakyBucket has for itself.
type turn struct{ from, to *big.Rat }

// perRequest is how long one token takes.
func perRequest(limit *ruleset.Limit) *big.Rat { return big.NewRat(limit.WindowMicros, limit.Requests) }

// span is how long some tokens take.
func span(limit *ruleset.Limit, tokens int64) *big.Rat {
	return product(perRequest(limit), rat(tokens))
}

// debt is the time until the bucket is full. A clock that stepped back makes nobody
// wait for longer than an empty bucket does.
func (b *tokenBucket) debt(now int64, check Check) *big.Rat {
	if b.full == nil || b.full.Cmp(rat(now)) < 0 {
		return rat(0)
	}
	debt := difference(b.full, rat(now))
	if most := span(check.Limit, b.bound.most(check)); debt.Cmp(most) > 0 {
		return most
	}
	return debt
}

// owe makes the bucket full again after a time.
func (b *tokenBucket) owe(now int64, debt *big.Rat) {
	if debt.Sign() < 0 {
		debt = rat(0)
	}
	b.full = sum(rat(now), debt)
}

func (b *tokenBucket) used(now int64, check Check) *big.Rat {
	return new(big.Rat).Quo(b.debt(now, check), perRequest(check.Limit))
}

func (b *tokenBucket) fallsTo(now int64, check Check, most *big.Rat) int64 {
	return ceil(product(perRequest(check.Limit), difference(b.used(now, check), most)))
}

func (b *tokenBucket) charge(now int64, check Check) {
	b.owe(now, sum(b.debt(now, check), span(check.Limit, check.Cost)))
}

func (b *tokenBucket) bringBack(now int64, check Check) {
	if debt := b.debt(now, check); check.Settled && b.full != nil && b.full.Cmp(sum(rat(now), debt)) > 0 {
		b.owe(now, debt)
	}
}

// giveBack returns what was not refilled since.
func (b *tokenBucket) giveBack(now, charged int64, check Check, amount int64) {
	left := difference(span(check.Limit, amount), rat(max(0, now-charged)))
	debt := b.debt(now, check)
	if left.Sign() > 0 {
		debt = difference(debt, left)
	}
	b.owe(now, debt)
}

func (b *tokenBucket) late(now int64, check Check, amount int64) {
	debt := sum(b.debt(now, check), span(check.Limit, amount))
	if most := span(check.Limit, b.bound.most(check)); debt.Cmp(most) > 0 {
		debt = most
	}
	b.owe(now, debt)
}

// freeSlot gives back the slot of a request that is the last in the queue, and then
// those of who left before, as long as they are the last.
func (b *tokenBucket) freeSlot(check Check, slot *big.Rat) {
	end := sum(slot, span(check.Limit, check.Cost))
	if b.full == nil {
		return
	}
	if b.full.Cmp(end) != 0 {
		b.left = append(b.left, turn{from: slot, to: end})
		return
	}
	b.full = slot
	isLast := func(t turn) bool { return t.to.Cmp(b.full) == 0 }
	for at := slices.IndexFunc(b.left, isLast); at >= 0; at = slices.IndexFunc(b.left, isLast) {
		b.full = b.left[at].from
		b.left = slices.Delete(b.left, at, at+1)
	}
}
