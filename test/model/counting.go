// Copyright The Penstock Authors.
// SPDX-License-Identifier: Apache-2.0

package model

import (
	"math"
	"math/big"

	"github.com/penstock-dev/penstock/internal/ruleset"
)

// counting is how one algorithm counts for one limit and identity. The limit's
// numbers may differ from call to call: policies are edited.
type counting interface {
	// used is how much of the limit is used at a time.
	used(now int64, check Check) *big.Rat
	// fallsTo is how long it takes until no more than most is used, if nothing comes;
	// more than most is used now.
	fallsTo(now int64, check Check, most *big.Rat) int64
	// charge charges the cost.
	charge(now int64, check Check)
	// bringBack forgets what a clock left that stepped back.
	bringBack(now int64, check Check)
	// giveBack returns a part of what was charged at a time, as far as it still counts.
	giveBack(now, charged int64, check Check, amount int64)
	// late charges an amount, whatever remains.
	late(now int64, check Check, amount int64)
}

// bound says how much of a limit can count as used.
type bound struct{ none bool }

func (b bound) most(check Check) int64 {
	switch {
	case b.none:
		return math.MaxInt64
	case check.Correctable:
		return 2 * capacity(check)
	default:
		return capacity(check)
	}
}

func (b bound) cut(used int64, check Check) int64 { return min(used, b.most(check)) }

func newCounting(algorithm ruleset.Algorithm, bound bound) counting {
	switch algorithm {
	case ruleset.FixedWindow:
		return &fixedWindow{bound: bound}
	case ruleset.SlidingWindowCounter:
		return &slidingWindowCounter{bound: bound}
	case ruleset.SlidingWindowLog:
		return &slidingWindowLog{bound: bound}
	case ruleset.Concurrency:
		return &concurrency{places: map[string]place{}}
	default:
		return &tokenBucket{bound: bound}
	}
}
