// Copyright The Penstock Authors.
// SPDX-License-Identifier: Apache-2.0

package limiter

import (
	"fmt"
	"math"
	"time"

	"github.com/penstock-dev/penstock/internal/ruleset"
)

// plan is one check made ready for its algorithm.
type plan interface {
	// has says whether the check asks for it.
	has(wanted flags) bool
	// same says that another plan is equal, so that the script need be told once.
	same(other plan) bool
	// appendArguments adds what decide.lua takes for this check.
	appendArguments(arguments []any) []any
	// parts is how many integers decide.lua returns for this check.
	parts() int
	// weight is how many checks of cost 1 keep the store busy for as long.
	weight() int
	// stand compares a state with the cost at a time.
	stand(stored state, now int64) standing
	// charge is the state after the cost was charged to the stored one, which is
	// used no more.
	charge(stored state, stand standing, now int64) state
	// cut is a state that lies further ahead than the limit can produce, brought back
	// to what it can be; false where there is nothing to bring back.
	cut(stored state, stand standing, now int64) (state, bool)
	// report tells people where the limit stands, after the charge if any.
	report(stand standing, charged bool) report
	// free says that the cost is 0: nothing is ever charged.
	free() bool

	// costing is the same check at another cost.
	costing(cost int64) plan
	// appendCorrection adds what correct.lua takes to correct a charge that was made
	// as the limit stood.
	appendCorrection(arguments []any, stand standing) []any
	// back gives the cost back that was charged at a time as the limit stood then,
	// as far as it still counts.
	back(stored state, stand standing, charged, now int64) state
	// late charges the cost, admitted or not, to at most one capacity below empty.
	late(stored state, now int64) state
}

// state is what the memory limiter keeps for one key. The zero state is an
// unused limit.
type state struct {
	// until is the microsecond from which the limit is unused again, rounded
	// down.
	until int64
	// more and before are what the algorithm keeps besides.
	more, before int64
	// log are the times of a log's entries, in order.
	log []int64
	// held are those who hold a place of a Concurrency limit.
	held []place
}

// standing is a limit at the moment of a decision, before any charge. The script
// returns the same values, as many as the algorithm has parts.
type standing struct {
	admits                       bool
	first, second, third, fourth int64
	// advance is how many requests were charged in advance.
	advance int64
	// outside says that the store could not decide: its time is in no window that
	// it was told of.
	outside bool
	// corrupt says that the store holds something else than the limit's state.
	corrupt bool
}

// report is the part of a LimitState that an algorithm knows.
type report struct {
	remaining                         int64
	resetAfter, nextAfter, retryAfter int64
	// delay is how long an admitted request waits for its turn.
	delay int64
	never bool
}

// planFor makes the plan of a check on the whole limit. The clock is this machine's.
func planFor(check *Check, clock func() time.Time) (plan, error) {
	if err := validate(check); err != nil {
		return nil, err
	}
	return makePlan(check, clock)
}

// makePlan makes the plan of a valid check, or of a share of one.
func makePlan(check *Check, clock func() time.Time) (plan, error) {
	limit, terms := check.Limit, termsOf(check)
	switch limit.Algorithm {
	case ruleset.TokenBucket:
		return newTokenBucket(terms, uint64(limit.Requests), uint64(limit.WindowMicros), limit.Burst, check.Cost), nil
	case ruleset.LeakyBucket:
		bucket := newTokenBucket(terms, uint64(limit.Requests), uint64(limit.WindowMicros), limit.Burst, check.Cost)
		return &leakyBucket{tokenBucket: *bucket}, nil
	case ruleset.FixedWindow:
		window := fixedWindow{terms: terms, requests: limit.Requests, window: limit.WindowMicros, cost: check.Cost}
		if limit.Calendar == nil {
			return &window, nil
		}
		return newCalendarWindow(window, limit, clock)
	case ruleset.SlidingWindowCounter:
		return newSlidingWindowCounter(terms, limit.Requests, limit.WindowMicros, check.Cost), nil
	case ruleset.SlidingWindowLog:
		if limit.Requests > maxLogged {
			// Only a share can be so large: see shareFor.
			return newSlidingWindowCounter(terms, limit.Requests, limit.WindowMicros, check.Cost), nil
		}
		return &slidingWindowLog{terms: terms, requests: limit.Requests, window: limit.WindowMicros, cost: check.Cost}, nil
	case ruleset.Concurrency:
		return newPlaces(terms, limit.Requests, check.Cost), nil
	default:
		return nil, fmt.Errorf("decide on limit %q: this version does not know algorithm %q; upgrade the sidecar", limit.Name, limit.Algorithm)
	}
}

// sameAs compares two plans of one algorithm.
func sameAs[T comparable](one *T, other plan) bool {
	another, ok := any(other).(*T)
	return ok && *one == *another
}

// samePlans says that two requests have equal checks.
func samePlans(one, other []plan) bool {
	if len(one) != len(other) {
		return false
	}
	for i := range one {
		if !one[i].same(other[i]) {
			return false
		}
	}
	return true
}

// micros is a duration of that many microseconds, or the longest there is.
func micros(count int64) time.Duration {
	if count > math.MaxInt64/int64(time.Microsecond) {
		return math.MaxInt64
	}
	return time.Duration(count) * time.Microsecond
}
