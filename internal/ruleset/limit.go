// Copyright The Penstock Authors.
// SPDX-License-Identifier: Apache-2.0

package ruleset

import "iter"

// Algorithm is how a limit counts.
type Algorithm string

const (
	// TokenBucket refills steadily up to its burst.
	TokenBucket Algorithm = "TokenBucket"
	// LeakyBucket is a TokenBucket that delays what it admits, so that requests leave
	// at a steady rate.
	LeakyBucket Algorithm = "LeakyBucket"
	// SlidingWindowLog remembers each request of the last window's length.
	SlidingWindowLog Algorithm = "SlidingWindowLog"
	// SlidingWindowCounter counts in windows aligned to the Unix epoch, and weighs
	// the window before by how much of it lies in the last window's length.
	SlidingWindowCounter Algorithm = "SlidingWindowCounter"
	// FixedWindow counts in windows aligned to the Unix epoch, or to a calendar.
	FixedWindow Algorithm = "FixedWindow"
	// Concurrency counts the requests that are being answered.
	Concurrency Algorithm = "Concurrency"
)

// Limit is one limit of a rule.
type Limit struct {
	Name      string    `json:"name"`
	Algorithm Algorithm `json:"algorithm"`
	// Requests are admitted in each window, or at once with Concurrency.
	Requests int64 `json:"requests"`
	// WindowMicros is the window's length in microseconds, 0 with Calendar and
	// with Concurrency.
	WindowMicros int64 `json:"windowMicros"`
	// Calendar makes a FixedWindow a period of the calendar; nil has none.
	Calendar *Calendar `json:"calendar,omitempty"`
	// Burst is a token bucket's capacity, in requests. It equals Requests where
	// the policy names none, and for all algorithms without a burst.
	Burst int64 `json:"burst"`
	// Key is the limit's part of its counters' names: 8 base64url characters of
	// a hash of kind, policy, rule, limit, algorithm and window or calendar.
	Key string `json:"key"`
	// TargetKeys replace Key where each target counts apart: by Selector.Target.
	TargetKeys map[string]string `json:"targetKeys,omitempty"`
}

// AllLimits are the rule's own limits and those of its tiers, with the name of the tier;
// empty for the rule's own.
func (r *Rule) AllLimits() iter.Seq2[string, *Limit] {
	return func(yield func(string, *Limit) bool) {
		for i := range r.Limits {
			if !yield("", &r.Limits[i]) {
				return
			}
		}
		for i := range r.Tiers {
			for j := range r.Tiers[i].Limits {
				if !yield(r.Tiers[i].Name, &r.Tiers[i].Limits[j]) {
					return
				}
			}
		}
	}
}

// Tier replaces a rule's limits for some requests.
type Tier struct {
	Name string `json:"name"`
	// When is the expression that must hold.
	When string `json:"when"`
	// Limits are those of the tier; none is unlimited.
	Limits []Limit `json:"limits,omitempty"`
}
