// Copyright The Penstock Authors.
// SPDX-License-Identifier: Apache-2.0

package history

import (
	"fmt"
	"math/big"
)

// Kind is what is wrong with a record.
type Kind string

const (
	// OverAdmission is when a limit admitted what its model refuses.
	OverAdmission Kind = "over-admission"
	// WrongRefusal is when a limit refused what its model admits.
	WrongRefusal Kind = "wrong refusal"
	// Misreported is when a limit is said to admit a refused request, and its model
	// refuses it.
	Misreported Kind = "misreported"
	// Inconsistent is when a record contradicts itself or another one.
	Inconsistent Kind = "inconsistent"
)

// Problem is one reason why a history is rejected.
type Problem struct {
	Kind   Kind
	Record Record
	Reason string
}

func (p Problem) String() string { return fmt.Sprintf("%s: %v: %s", p.Kind, p.Record, p.Reason) }

// Report is what the checker found.
type Report struct {
	// Decisions are those of the store, FromMemory those without it.
	Decisions, FromMemory int
	Admitted, Refused     int
	// Released is how many requests gave back places of a Concurrency limit.
	Released int
	// Over is by how many requests limits were used beyond their capacity at most, of
	// those that were.
	Over     map[string]*big.Rat
	Problems []Problem
}

// Count is how many problems of a kind there are.
func (r *Report) Count(kind Kind) int {
	count := 0
	for _, problem := range r.Problems {
		if problem.Kind == kind {
			count++
		}
	}
	return count
}

func (r *Report) add(kind Kind, record Record, format string, arguments ...any) {
	r.Problems = append(r.Problems, Problem{Kind: kind, Record: record, Reason: fmt.Sprintf(format, arguments...)})
}

func (r *Report) count(record Record) {
	switch {
	case record.fromMemory():
		r.FromMemory++
	case record.Admitted:
		r.Decisions++
		r.Admitted++
	default:
		r.Decisions++
		r.Refused++
	}
}

// used notes that a limit was used so much beyond its capacity.
func (r *Report) used(limit string, excess *big.Rat) {
	if known, found := r.Over[limit]; excess.Sign() > 0 && (!found || excess.Cmp(known) > 0) {
		r.Over[limit] = excess
	}
}
