// Copyright The Penstock Authors.
// SPDX-License-Identifier: Apache-2.0

package model

import (
	"maps"
	"math/big"
)

const (
	// LeaseMicros is for how long a holder counts that is not heard of.
	LeaseMicros = 30_000_000
	// hintMicros is what is told to those who wait: nobody knows when a place gets free.
	hintMicros = 1_000_000
)

// concurrency counts those who hold places.
type concurrency struct{ places map[string]place }

type place struct{ count, until int64 }

func (c *concurrency) used(now int64, _ Check) *big.Rat {
	used := int64(0)
	for _, held := range c.places {
		if held.until > now {
			used += held.count
		}
	}
	return rat(used)
}

func (c *concurrency) fallsTo(int64, Check, *big.Rat) int64 { return hintMicros }

func (c *concurrency) charge(now int64, check Check) {
	maps.DeleteFunc(c.places, func(_ string, held place) bool { return held.until <= now })
	c.places[check.Holder] = place{count: check.Cost, until: now + LeaseMicros}
}

// bringBack shortens leases that stand in a request's way.
func (c *concurrency) bringBack(now int64, check Check) {
	if sum(c.used(now, check), rat(check.Cost)).Cmp(rat(capacity(check))) <= 0 {
		return
	}
	for holder, held := range c.places {
		held.until = min(held.until, now+LeaseMicros)
		c.places[holder] = held
	}
}

// giveBack is Release: places are given back as a whole.
func (c *concurrency) giveBack(_, _ int64, check Check, _ int64) { delete(c.places, check.Holder) }

// late renews the lease.
func (c *concurrency) late(now int64, check Check, _ int64) { c.charge(now, check) }
