// Copyright The Penstock Authors.
// SPDX-License-Identifier: Apache-2.0

package ruleset

// exact is the first number above which a script's numbers have gaps.
const exact = 1 << 53

// StepMicros is in how many microseconds a SlidingWindowCounter of so many
// requests per window counts time: the least whole number for which no product
// of requests and steps exceeds what a script can multiply exactly. It is 1 for
// all but very large limits with very long windows.
func StepMicros(requests, windowMicros int64) int64 {
	// A refused cost may stand for one request more than the limit.
	steps := exact / (requests + 1)
	return max(1, (windowMicros+steps-1)/steps)
}
