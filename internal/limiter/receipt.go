// Copyright The Penstock Authors.
// SPDX-License-Identifier: Apache-2.0

package limiter

import (
	"sync"
	"time"

	"github.com/penstock-dev/penstock/internal/ruleset"
)

// Receipt is what an admitted request was charged, to be corrected when more is
// known: once with Settle or Cancel. It is safe for concurrent use, and nil does
// nothing.
//
// Places of a Concurrency limit are held until then: a receipt renews their leases,
// so every receipt must be settled or cancelled, whatever becomes of the request.
type Receipt struct {
	book      book
	namespace string
	charges   []charge
	// charged is when, by the clock of the book, in microseconds.
	charged int64

	// next is what the same request was charged elsewhere.
	next *Receipt

	mu      sync.Mutex
	over    bool
	renewal *time.Timer
}

// book is where charges stand that can be corrected.
type book interface {
	correct(namespace string, corrections []correction)
}

// charge is one limit that was charged.
type charge struct {
	check Check
	plan  plan
	// stand is how the limit stood before.
	stand standing
}

// receiptFor is the receipt of a request, nil if nothing can be corrected.
func receiptFor(in book, namespace string, checks []Check, plans []plan, stands []standing, now int64) *Receipt {
	var charges []charge
	holds := false
	for i := range checks {
		algorithm := checks[i].Limit.Algorithm
		shapes := algorithm == ruleset.LeakyBucket || algorithm == ruleset.Concurrency
		if !shapes && !checks[i].Correctable || !stands[i].admits {
			continue
		}
		if charges == nil && !allAdmit(plans, stands) {
			return nil
		}
		holds = holds || algorithm == ruleset.Concurrency && !plans[i].free()
		charges = append(charges, charge{check: checks[i], plan: plans[i], stand: stands[i]})
	}
	if charges == nil {
		return nil
	}
	r := &Receipt{book: in, namespace: namespace, charges: charges, charged: now}
	if holds {
		r.mu.Lock()
		defer r.mu.Unlock()
		r.renewal = time.AfterFunc(renewEvery, r.renew)
	}
	return r
}

// with adds what the same request was charged elsewhere, before anyone else has
// either.
func (r *Receipt) with(other *Receipt) *Receipt {
	if r == nil {
		return other
	}
	last := r
	for last.next != nil {
		last = last.next
	}
	last.next = other
	return r
}

// Settle ends the receipt: due is what a check costs in the end. What was charged
// beyond that is given back, and what is missing is charged late. A nil due leaves
// the costs as they are. Places are given back, whatever they cost. Of a LeakyBucket
// nothing is: its request has gone on.
func (r *Receipt) Settle(due func(check *Check) int64) {
	r.end(func(c *charge) (correctionKind, int64) {
		cost := c.check.Cost
		switch {
		case c.check.Limit.Algorithm == ruleset.Concurrency:
			return giveBack, cost
		case c.check.Limit.Algorithm == ruleset.LeakyBucket || due == nil:
			return giveBack, 0
		}
		wanted := min(max(due(&c.check), 0), maxCost)
		if wanted < cost {
			return giveBack, cost - wanted
		}
		return chargeLate, wanted - cost
	})
}

// Cancel ends the receipt of a request that did not go on: what the receipt is about
// is given back, as far as it still counts. Charges that are final stay.
func (r *Receipt) Cancel() {
	r.end(func(c *charge) (correctionKind, int64) { return giveBack, c.check.Cost })
}

// end corrects each charge once.
func (r *Receipt) end(wanted func(*charge) (correctionKind, int64)) {
	for ; r != nil; r = r.next {
		r.endOne(wanted)
	}
}

func (r *Receipt) endOne(wanted func(*charge) (correctionKind, int64)) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.over {
		return
	}
	r.over = true
	if r.renewal != nil {
		r.renewal.Stop()
	}
	r.correct(wanted)
}

// renew renews the leases of places, until the receipt has ended.
func (r *Receipt) renew() {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.over {
		return
	}
	r.renewal.Reset(renewEvery)
	r.correct(func(c *charge) (correctionKind, int64) {
		if c.check.Limit.Algorithm != ruleset.Concurrency {
			return chargeLate, 0
		}
		return chargeLate, c.check.Cost
	})
}

func (r *Receipt) correct(wanted func(*charge) (correctionKind, int64)) {
	var corrections []correction
	for i := range r.charges {
		c := &r.charges[i]
		kind, amount := wanted(c)
		if amount == 0 {
			continue
		}
		corrected := c.plan
		if amount != c.check.Cost {
			corrected = c.plan.costing(amount)
		}
		corrections = append(corrections, correction{
			kind: kind, identity: c.check.Identity, limit: c.check.Limit.Key,
			plan: corrected, charged: r.charged, stand: c.stand,
		})
	}
	if len(corrections) > 0 {
		r.book.correct(r.namespace, corrections)
	}
}
