// Copyright The Penstock Authors.
// SPDX-License-Identifier: Apache-2.0

package model

import "math/big"

// slidingWindowCounter counts in windows that follow one another, and takes of the
// one before the share that lies within the last window's length.
type slidingWindowCounter struct {
	number, before, count int64
	bound                 bound
}

// at is the state as seen from the window around a time.
func (c *slidingWindowCounter) at(now int64, check Check) slidingWindowCounter {
	seen := slidingWindowCounter{number: now / check.Limit.WindowMicros, bound: c.bound}
	switch {
	case c.number < seen.number-1:
	case c.number == seen.number-1:
		seen.before = c.bound.cut(c.count, check)
	default:
		// A window of later, left by a clock that stepped back, is taken for the present.
		seen.before, seen.count = c.bound.cut(c.before, check), c.bound.cut(c.count, check)
	}
	return seen
}

// weighed is the sum that a window's counts make so long before its end.
func (c *slidingWindowCounter) weighed(left, window int64) *big.Rat {
	return sum(product(big.NewRat(left, window), rat(c.before)), rat(c.count))
}

func (c *slidingWindowCounter) used(now int64, check Check) *big.Rat {
	window, seen := check.Limit.WindowMicros, c.at(now, check)
	return seen.weighed(window-now%window, window)
}

func (c *slidingWindowCounter) fallsTo(now int64, check Check, most *big.Rat) int64 {
	seen := c.at(now, check)
	return firstWhere(now, (seen.number+2)*check.Limit.WindowMicros, func(at int64) bool {
		return seen.used(at, check).Cmp(most) <= 0
	}) - now
}

func (c *slidingWindowCounter) charge(now int64, check Check) {
	seen := c.at(now, check)
	seen.count += check.Cost
	*c = seen
}

func (c *slidingWindowCounter) bringBack(now int64, check Check) {
	if seen := c.at(now, check); c.number > seen.number {
		*c = seen
	}
}

// giveBack returns it to the window that was charged.
func (c *slidingWindowCounter) giveBack(now, charged int64, check Check, amount int64) {
	seen := c.at(now, check)
	switch number := charged / check.Limit.WindowMicros; {
	case number >= seen.number:
		seen.count = max(0, seen.count-amount)
	case number == seen.number-1:
		seen.before = max(0, seen.before-amount)
	}
	*c = seen
}

func (c *slidingWindowCounter) late(now int64, check Check, amount int64) {
	seen := c.at(now, check)
	seen.count = c.bound.cut(seen.count+amount, check)
	*c = seen
}

// AdmitsBehind is Admits for a SlidingWindowCounter whose time is so many
// microseconds behind, with the counts of now: what very large limits refuse, which
// count time in steps, is measured with it.
func (m *Model) AdmitsBehind(now, behind int64, check Check) bool {
	window, seen := check.Limit.WindowMicros, slidingWindowCounter{}
	if known, ok := m.of(check).(*slidingWindowCounter); ok {
		seen = known.at(now, check)
	}
	used := seen.weighed(window-now%window+behind, window)
	return sum(used, rat(check.Cost)).Cmp(rat(capacity(check))) <= 0
}
