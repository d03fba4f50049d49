// Copyright The Penstock Authors.
// SPDX-License-Identifier: Apache-2.0

package limiter

import (
	"math/big"
	"slices"

	"github.com/penstock-dev/penstock/internal/ruleset"
)

// modelReceipt is what the model charged a request, and how the limits stood before.
type modelReceipt struct {
	at     int64
	holder string
	checks []Check
	// slots are when the requests of LeakyBuckets went on.
	slots []*big.Rat
	// counted says which limits were charged.
	counted []bool
}

// receipt is what a request would be charged now. Take it before it is decided.
func (m *model) receipt(now int64, holder string, checks []Check) modelReceipt {
	r := modelReceipt{at: now, holder: holder, checks: slices.Clone(checks)}
	for _, check := range checks {
		debt, _ := m.debt(now, check)
		r.slots = append(r.slots, debt.Add(debt, rat(now)))
		r.counted = append(r.counted, m.look(now, check).Allowed)
	}
	return r
}

// settle corrects a receipt: due is what each check costs in the end.
func (m *model) settle(now int64, r modelReceipt, due []int64) {
	for i, check := range r.checks {
		switch {
		case !r.counted[i]:
		case check.Limit.Algorithm == ruleset.Concurrency:
			delete(m.places[name(check)], r.holder)
		case !check.Correctable || check.Limit.Algorithm == ruleset.LeakyBucket:
		case due[i] > check.Cost:
			m.late(now, check, due[i]-check.Cost)
		case due[i] < check.Cost:
			m.giveBack(now, r.at, check, check.Cost-due[i])
		}
	}
}

// cancel gives back everything that a receipt names.
func (m *model) cancel(now int64, r modelReceipt) {
	for i, check := range r.checks {
		algorithm := check.Limit.Algorithm
		switch {
		case !r.counted[i] || check.Cost == 0:
		case algorithm == ruleset.Concurrency:
			delete(m.places[name(check)], r.holder)
		case algorithm == ruleset.LeakyBucket:
			_, perRequest := m.debt(now, check)
			last := new(big.Rat).Mul(perRequest, rat(check.Cost))
			if full, known := m.buckets[name(check)]; known && full.Cmp(last.Add(last, r.slots[i])) == 0 {
				m.buckets[name(check)] = r.slots[i]
			}
		case check.Correctable:
			m.giveBack(now, r.at, check, check.Cost)
		}
	}
}

func (m *model) giveBack(now, charged int64, check Check, amount int64) {
	window := check.Limit.WindowMicros
	switch check.Limit.Algorithm {
	case ruleset.FixedWindow:
		current, count := m.count(now, check)
		if m.windowOf(charged, check) >= current {
			count = max(0, count-amount)
		}
		m.windows[name(check)] = modelWindow{number: current, count: count}
	case ruleset.SlidingWindowCounter:
		counter := m.counter(now, check)
		switch charged / window {
		case counter.number - 1:
			counter.before = max(0, counter.before-amount)
		default:
			if charged/window >= counter.number {
				counter.count = max(0, counter.count-amount)
			}
		}
		m.counters[name(check)] = counter
	case ruleset.SlidingWindowLog:
		log := m.logs[name(check)]
		for range amount {
			if at := slices.Index(log, charged); at >= 0 {
				log = slices.Delete(slices.Clone(log), at, at+1)
			}
		}
		m.logs[name(check)] = log
	default:
		debt, perRequest := m.debt(now, check)
		left := new(big.Rat).Mul(perRequest, rat(amount))
		left.Sub(left, rat(max(0, now-charged)))
		if left.Sign() > 0 {
			debt = new(big.Rat).Sub(debt, left)
		}
		if debt.Sign() < 0 {
			debt = rat(0)
		}
		m.buckets[name(check)] = debt.Add(debt, rat(now))
	}
}

func (m *model) late(now int64, check Check, amount int64) {
	requests := check.Limit.Requests
	switch check.Limit.Algorithm {
	case ruleset.FixedWindow:
		current, count := m.count(now, check)
		m.windows[name(check)] = modelWindow{number: current, count: min(count+amount, 2*requests)}
	case ruleset.SlidingWindowCounter:
		counter := m.counter(now, check)
		counter.count = min(counter.count+amount, 2*requests)
		m.counters[name(check)] = counter
	case ruleset.SlidingWindowLog:
		live := int64(len(m.live(now, check)))
		log, at := m.logs[name(check)], now
		if len(log) > 0 {
			at = max(at, slices.Max(log))
		}
		for range min(amount, 2*requests-live) {
			log = append(log, at)
		}
		m.logs[name(check)] = log
	default:
		debt, perRequest := m.debt(now, check)
		most := new(big.Rat).Mul(perRequest, rat(2*check.Limit.Burst))
		debt = new(big.Rat).Add(debt, new(big.Rat).Mul(perRequest, rat(amount)))
		if debt.Cmp(most) > 0 {
			debt = most
		}
		m.buckets[name(check)] = debt.Add(debt, rat(now))
	}
}
