// Copyright The Penstock Authors.
// SPDX-License-Identifier: Apache-2.0

package model

import "github.com/penstock-dev/penstock/internal/ruleset"

// Check is one limit that a request meets.
type Check struct {
	Limit    *ruleset.Limit
	Identity string
	// Cost is how many requests this one counts as; 0 looks without charging.
	Cost int64
	// Shadow limits refuse nothing.
	Shadow bool
	// Correctable limits can be charged late, to one capacity below empty.
	Correctable bool
	// Settled buckets are cut for good to what they can lack.
	Settled bool
	// Holder is who holds places of a Concurrency limit, until it gives them back or its
	// lease ends; empty is somebody else each time.
	Holder string
}

func (c Check) name() string { return c.Identity + c.Limit.Key }

// State is one limit after a decision. Times are in whole microseconds.
type State struct {
	Limit string
	// Allowed says that this limit would admit the request, Never that its cost is
	// more than the limit holds when unused.
	Allowed, Never bool
	// Remaining is how many requests of cost 1 would be admitted now.
	Remaining int64
	// Reset is the time until nothing is used, Next that until Remaining grows, and
	// RetryAfter that until the same request is admitted, if nothing comes.
	Reset, Next, RetryAfter int64
	// Delay is how long an admitted request waits in a LeakyBucket.
	Delay int64
}

// capacity is how much of a limit can be used at once.
func capacity(check Check) int64 {
	switch check.Limit.Algorithm {
	case ruleset.TokenBucket, ruleset.LeakyBucket:
		return check.Limit.Burst
	default:
		return check.Limit.Requests
	}
}
