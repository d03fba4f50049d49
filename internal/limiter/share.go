// Copyright The Penstock Authors.
// SPDX-License-Identifier: Apache-2.0

package limiter

import (
	"math/big"
	"math/bits"
	"time"

	"github.com/penstock-dev/penstock/internal/ruleset"
)

const (
	// defaultLoosenessMilli is the looseness of a rule that names none.
	defaultLoosenessMilli = 1500
	// maxShareFactor bounds looseness and live pods, for the arithmetic.
	maxShareFactor = 1 << 20
)

// fraction is a pod's share of a limit: live pods each allow it, so together
// they allow the limit times the looseness.
type fraction struct{ numerator, denominator int64 }

func shareFraction(check *Check) fraction {
	looseness, pods := check.LoosenessMilli, check.LivePods
	if looseness < 1 {
		looseness = defaultLoosenessMilli
	}
	return fraction{
		numerator:   min(looseness, maxShareFactor),
		denominator: 1000 * min(max(pods, 1), maxShareFactor),
	}
}

// of is the share of a number of requests, rounded down.
func (f fraction) of(requests int64) int64 { return requests * f.numerator / f.denominator }

// shareFor makes the plan of a check on this pod's share of the limit. A share
// holds at least one request, and this one just if the whole limit would.
func shareFor(check *Check) (plan, error) {
	if err := validate(check); err != nil {
		return nil, err
	}
	switch check.Limit.Algorithm {
	case ruleset.TokenBucket:
		return shareBucket(check, shareFraction(check)), nil
	case ruleset.LeakyBucket:
		return &leakyBucket{tokenBucket: *shareBucket(check, shareFraction(check))}, nil
	case ruleset.Concurrency:
		return sharePlaces(check, shareFraction(check)), nil
	default:
	}
	share := *check
	share.Limit = &ruleset.Limit{}
	*share.Limit = *check.Limit
	share.Limit.Requests, share.Limit.WindowMicros, share.Cost = shareWindow(check, shareFraction(check))
	if share.Limit.WindowMicros > windowOf(check.Limit) {
		// Several periods of a calendar are a window like any other.
		share.Limit.Calendar = nil
	}
	// The clock is of no use for decisions in memory.
	return makePlan(&share, nil)
}

// shareBucket divides the rate exactly: the same window for a fraction of the
// requests is a longer window for whole ones.
func shareBucket(check *Check, share fraction) *tokenBucket {
	limit := check.Limit
	requests := new(big.Int).Mul(big.NewInt(limit.Requests), big.NewInt(share.numerator))
	window := new(big.Int).Mul(big.NewInt(limit.WindowMicros), big.NewInt(share.denominator))
	common := new(big.Int).GCD(nil, nil, requests, window)
	requests.Quo(requests, common)
	window.Quo(window, common)
	if excess := max(window.BitLen(), requests.BitLen()) - 62; excess > 0 {
		// Coarser units for absurdly slow shares: fewer requests, a longer window.
		requests.Rsh(requests, uint(excess))
		window.Rsh(window, uint(excess)).Add(window, big.NewInt(1))
	}
	burst, cost := max(share.of(limit.Burst), 1, min(check.Cost, limit.Burst)), check.Cost
	if cost > limit.Burst {
		cost = max(cost, burst+1)
	}
	return newTokenBucket(termsOf(check), max(requests.Uint64(), 1), window.Uint64(), burst, cost)
}

// sharePlaces are whole places, and at least one that the request fits.
func sharePlaces(check *Check, share fraction) plan {
	limit := check.Limit
	requests, cost := max(share.of(limit.Requests), 1, min(check.Cost, limit.Requests)), check.Cost
	if cost > limit.Requests {
		cost = max(cost, requests+1)
	}
	return newPlaces(termsOf(check), requests, cost)
}

// shareWindow counts the whole requests of the share. Where these are too few
// for a request, as many windows become one as hold it.
func shareWindow(check *Check, share fraction) (requests, window, cost int64) {
	limit := check.Limit
	needed := max(1, min(check.Cost, limit.Requests))
	requests, window, cost = share.of(limit.Requests), windowOf(limit), check.Cost
	if cost > limit.Requests {
		cost = max(cost, requests+1)
	}
	if requests >= needed {
		return requests, window, cost
	}
	perWindow := limit.Requests * share.numerator
	windows := (needed*share.denominator + perWindow - 1) / perWindow
	high, low := bits.Mul64(uint64(windows), uint64(window))
	if high > 0 || low > farthest/4 {
		low = farthest / 4
	}
	return needed, int64(low), cost
}

// windowOf is the length of a limit's window, of a calendar's the longest.
func windowOf(limit *ruleset.Limit) int64 {
	const day = 24 * int64(time.Hour/time.Microsecond)
	switch {
	case limit.Calendar == nil:
		return limit.WindowMicros
	case limit.Calendar.Period == ruleset.PeriodMonth:
		return 31 * day
	case limit.Calendar.Period == ruleset.PeriodWeek:
		return 7 * day
	default:
		return day
	}
}
