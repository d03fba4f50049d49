// Copyright The Penstock Authors.
// SPDX-License-Identifier: Apache-2.0

package limiter

import (
	"errors"
	"fmt"
	"math"
	"time"

	"github.com/penstock-dev/penstock/internal/ruleset"
)

// The largest limits, for which all arithmetic of the script stays below 2^53:
// the time of day takes 51 bits of microseconds, the longest span 49.
const (
	maxRequests     = 1 << 31
	maxWindowMicros = 400 * 24 * int64(time.Hour/time.Microsecond)
	maxFillMicros   = 3650 * 24 * int64(time.Hour/time.Microsecond)
)

// plan is one check made ready for its algorithm.
type plan interface {
	// appendArguments adds what decide.lua takes for this check.
	appendArguments(arguments []any) []any
	// parts is how many integers decide.lua returns for this check.
	parts() int
	// stand compares a state with the cost at a time.
	stand(stored state, now int64) standing
	// charge is the state after the cost was charged to the stored one, which is
	// used no more.
	charge(stored state, stand standing, now int64) state
	// report tells people where the limit stands, after the charge if any.
	report(stand standing, charged bool) report
	// free says that the cost is 0: nothing is ever written.
	free() bool
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
}

// standing is a limit at the moment of a decision, before any charge. The script
// returns the same values, as many as the algorithm has parts.
type standing struct {
	admits                       bool
	first, second, third, fourth int64
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
	never                             bool
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
	limit := check.Limit
	switch limit.Algorithm {
	case ruleset.TokenBucket:
		return newTokenBucket(uint64(limit.Requests), uint64(limit.WindowMicros), limit.Burst, check.Cost), nil
	case ruleset.FixedWindow:
		window := fixedWindow{requests: limit.Requests, window: limit.WindowMicros, cost: check.Cost}
		if limit.Calendar == nil {
			return &window, nil
		}
		return newCalendarWindow(window, limit, clock)
	case ruleset.SlidingWindowCounter:
		return newSlidingWindowCounter(limit.Requests, limit.WindowMicros, check.Cost), nil
	case ruleset.SlidingWindowLog:
		if limit.Requests > maxLogged {
			// Only a share can be so large: see shareFor.
			return newSlidingWindowCounter(limit.Requests, limit.WindowMicros, check.Cost), nil
		}
		return &slidingWindowLog{requests: limit.Requests, window: limit.WindowMicros, cost: check.Cost}, nil
	default:
		return nil, fmt.Errorf("decide on limit %q: this version does not know algorithm %q; upgrade the sidecar", limit.Name, limit.Algorithm)
	}
}

// validate guards the arithmetic against limits that the compiler refuses.
func validate(check *Check) error {
	limit := check.Limit
	switch {
	case limit == nil:
		return errors.New("decide on a check: it names no limit")
	case check.Cost < 0:
		return fmt.Errorf("decide on limit %q: cost %d is negative", limit.Name, check.Cost)
	case limit.Requests < 1 || limit.Requests > maxRequests:
		return fmt.Errorf("decide on limit %q: requests %d is not from 1 to %d", limit.Name, limit.Requests, int64(maxRequests))
	case limit.Calendar != nil && limit.Algorithm == ruleset.FixedWindow:
		return nil
	case limit.WindowMicros < 1 || limit.WindowMicros > maxWindowMicros:
		return fmt.Errorf("decide on limit %q: window of %d µs is not from 1 µs to 400 days", limit.Name, limit.WindowMicros)
	case limit.Algorithm == ruleset.SlidingWindowLog && limit.Requests > maxLogged:
		return fmt.Errorf("decide on limit %q: requests %d are more than the %d of a log", limit.Name, limit.Requests, maxLogged)
	case limit.Algorithm != ruleset.TokenBucket:
		return nil
	case limit.Burst < 1 || limit.Burst > maxRequests:
		return fmt.Errorf("decide on limit %q: burst %d is not from 1 to %d", limit.Name, limit.Burst, int64(maxRequests))
	case float64(limit.Burst)*float64(limit.WindowMicros)/float64(limit.Requests) > float64(maxFillMicros):
		return fmt.Errorf("decide on limit %q: burst %d takes over 10 years to refill", limit.Name, limit.Burst)
	}
	return nil
}

// micros is a duration of that many microseconds, or the longest there is.
func micros(count int64) time.Duration {
	if count > math.MaxInt64/int64(time.Microsecond) {
		return math.MaxInt64
	}
	return time.Duration(count) * time.Microsecond
}
