// Copyright The Penstock Authors.
// SPDX-License-Identifier: Apache-2.0

package limiter

// flags are what a check asks of its limit besides the algorithm, as decide.lua
// takes them.
type flags int64

const (
	// shadowed limits refuse nothing, and are charged only if they admit themselves.
	shadowed flags = 1 << iota
	// settled buckets are cut for good to their burst.
	settled
	// overdrawn limits may be taken one capacity below empty by late charges.
	overdrawn
	// leased limits are charged in advance for a share of what remains.
	leased
)

// leasesPerPod is into how many leases a pod's even share of what remains is cut,
// so that a pod that stops leaves most of it to the others.
const leasesPerPod = 4

// terms are what the plans of all algorithms share.
type terms struct {
	flags flags
	// share is the part of what remains that is charged in advance: one in so many.
	share int64
}

func termsOf(check *Check) terms {
	var t terms
	if check.Shadow {
		t.flags |= shadowed
	}
	if check.Settled {
		t.flags |= settled
	}
	if check.Correctable {
		t.flags |= overdrawn
	}
	if check.share > 0 {
		t.flags |= leased
		t.share = check.share
	}
	return t
}

func (t terms) has(wanted flags) bool { return t.flags&wanted != 0 }

// weight is that of an algorithm to which any cost is one number.
func (t terms) weight() int { return 1 }

// most is how many requests a limit may have been charged for.
func (t terms) most(requests int64) int64 {
	if t.has(overdrawn) {
		return 2 * requests
	}
	return requests
}

// appendTo appends what decide.lua takes for a check: the numbers begin with the
// cost.
func (t terms) appendTo(arguments []any, algorithm string, numbers ...int64) []any {
	count := len(numbers) + 1
	if t.has(leased) {
		count++
	}
	arguments = append(arguments, algorithm, count, int64(t.flags))
	for _, number := range numbers {
		arguments = append(arguments, number)
	}
	if t.has(leased) {
		arguments = append(arguments, t.share)
	}
	return arguments
}

// partsOf is how many integers decide.lua returns for a check.
func (t terms) partsOf(algorithm int) int {
	if t.has(leased) {
		return algorithm + 1
	}
	return algorithm
}
