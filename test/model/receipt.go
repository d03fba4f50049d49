// Copyright The Penstock Authors.
// SPDX-License-Identifier: Apache-2.0

package model

import (
	"math/big"
	"slices"

	"github.com/penstock-dev/penstock/internal/ruleset"
)

// Receipt is what a request was charged, and how the limits stood before.
type Receipt struct {
	// Checks are those of the request.
	Checks []Check
	at     int64
	// slots are when the requests of LeakyBuckets went on.
	slots []*big.Rat
	// counted says which limits were charged.
	counted []bool
}

// ReceiptFor is the receipt of a request if it is admitted. Take it before Decide.
func (m *Model) ReceiptFor(now int64, checks []Check) Receipt {
	r := Receipt{at: now, Checks: slices.Clone(checks)}
	for _, check := range checks {
		r.counted = append(r.counted, m.Admits(now, check))
		slot := rat(now)
		if queue, ok := m.of(check).(*tokenBucket); ok {
			slot = sum(slot, queue.debt(now, check))
		}
		r.slots = append(r.slots, slot)
	}
	return r
}

// Settle corrects what a receipt names: due is what each check costs in the end.
// Places are given back; nothing is of a LeakyBucket, whose requests have gone on.
func (m *Model) Settle(now int64, r Receipt, due []int64) {
	for i, check := range r.Checks {
		switch {
		case !r.counted[i]:
		case check.Limit.Algorithm == ruleset.Concurrency:
			m.Release(check)
		case !check.Correctable || check.Limit.Algorithm == ruleset.LeakyBucket:
		case due[i] > check.Cost:
			m.of(check).late(now, check, due[i]-check.Cost)
		case due[i] < check.Cost:
			m.of(check).giveBack(now, r.at, check, check.Cost-due[i])
		}
	}
}

// Cancel gives back all that a receipt names, as far as it still counts: of a
// LeakyBucket the slot, once it is the last.
func (m *Model) Cancel(now int64, r Receipt) {
	for i, check := range r.Checks {
		switch queue, ok := m.of(check).(*tokenBucket); {
		case !r.counted[i] || check.Cost == 0:
		case check.Limit.Algorithm == ruleset.Concurrency:
			m.Release(check)
		case ok && check.Limit.Algorithm == ruleset.LeakyBucket:
			queue.freeSlot(check, r.slots[i])
		case check.Correctable:
			m.of(check).giveBack(now, r.at, check, check.Cost)
		}
	}
}

// Release gives back the places that a holder has of a Concurrency limit, if it has
// any.
func (m *Model) Release(check Check) {
	if known, ok := m.of(check).(*concurrency); ok {
		delete(known.places, check.Holder)
	}
}
