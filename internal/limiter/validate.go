// Copyright The Penstock Authors.
// SPDX-License-Identifier: Apache-2.0

package limiter

import (
	"fmt"
	"time"

	"github.com/penstock-dev/penstock/internal/ruleset"
)

// The largest limits, for which all arithmetic of the scripts stays below 2^53:
// the time of day takes 51 bits of microseconds, the longest span 49.
const (
	maxRequests     = 1 << 31
	maxWindowMicros = 400 * 24 * int64(time.Hour/time.Microsecond)
	maxFillMicros   = 3650 * 24 * int64(time.Hour/time.Microsecond)
	// maxCost is the most one request can count as.
	maxCost = 1 << 31
	// maxPlaces is the most places of a Concurrency limit that one request can take.
	maxPlaces = 10_000
	// maxIdentity is the most characters of an identity: a keyed hash has 22.
	maxIdentity = 64
)

// InvalidError is about a check that cannot be decided on, whatever the store.
type InvalidError struct {
	// Limit is the limit's name; empty where there is none.
	Limit string
	// Field is what is wrong: limit, identity, cost, requests, window or burst.
	Field string
	// Problem says what is wrong with it.
	Problem string
}

// Error names the limit, the field and what is wrong.
func (e *InvalidError) Error() string {
	if e.Limit == "" {
		return "decide on a check: " + e.Field + " " + e.Problem
	}
	return fmt.Sprintf("decide on limit %q: %s %s", e.Limit, e.Field, e.Problem)
}

// validate guards the arithmetic against limits that the compiler refuses.
func validate(check *Check) error {
	limit := check.Limit
	if limit == nil {
		return &InvalidError{Field: "limit", Problem: "is missing: it names no limit"}
	}
	invalid := func(field, problem string, values ...any) error {
		return &InvalidError{Limit: limit.Name, Field: field, Problem: fmt.Sprintf(problem, values...)}
	}
	switch {
	case !isIdentity(check.Identity):
		return invalid("identity", "of %d bytes is not from 1 to %d characters of base64url", len(check.Identity), maxIdentity)
	case check.Cost < 0 || check.Cost > maxCost:
		return invalid("cost", "%d is not from 0 to %d", check.Cost, int64(maxCost))
	case limit.Requests < 1 || limit.Requests > maxRequests:
		return invalid("requests", "%d is not from 1 to %d", limit.Requests, int64(maxRequests))
	case limit.Burst < 0:
		// A window has no burst, but its share of a pod is told in these numbers.
		return invalid("burst", "%d is below 0", limit.Burst)
	case limit.Algorithm == ruleset.Concurrency && check.Cost > maxPlaces:
		return invalid("cost", "%d is more than the %d places that a request can take", check.Cost, int64(maxPlaces))
	}
	return validateLimit(limit, invalid)
}

// validateLimit is about what belongs to the algorithm.
func validateLimit(limit *ruleset.Limit, invalid func(field, problem string, values ...any) error) error {
	switch {
	case limit.Algorithm == ruleset.Concurrency, limit.Calendar != nil && limit.Algorithm == ruleset.FixedWindow:
		return nil
	case limit.WindowMicros < 1 || limit.WindowMicros > maxWindowMicros:
		return invalid("window", "of %d µs is not from 1 µs to 400 days", limit.WindowMicros)
	case limit.Algorithm == ruleset.SlidingWindowLog && limit.Requests > maxLogged:
		return invalid("requests", "%d are more than the %d of a log", limit.Requests, int64(maxLogged))
	case limit.Algorithm != ruleset.TokenBucket && limit.Algorithm != ruleset.LeakyBucket:
		return nil
	case limit.Burst < 1 || limit.Burst > maxRequests:
		return invalid("burst", "%d is not from 1 to %d", limit.Burst, int64(maxRequests))
	case float64(limit.Burst)*float64(limit.WindowMicros)/float64(limit.Requests) > float64(maxFillMicros):
		return invalid("burst", "%d takes over 10 years to refill", limit.Burst)
	}
	return nil
}

// isIdentity says that an identity can stand in the name of a key: no colon, which
// parts it, and no brace, which marks what places it in a cluster.
func isIdentity(identity string) bool {
	if identity == "" || len(identity) > maxIdentity {
		return false
	}
	for _, c := range []byte(identity) {
		switch {
		case 'a' <= c && c <= 'z', 'A' <= c && c <= 'Z', '0' <= c && c <= '9', c == '-', c == '_':
		default:
			return false
		}
	}
	return true
}
