// Copyright The Penstock Authors.
// SPDX-License-Identifier: Apache-2.0

package expression

import (
	"github.com/google/cel-go/common/overloads"
	"github.com/google/cel-go/common/types"
	"github.com/google/cel-go/common/types/ref"
	"github.com/google/cel-go/interpreter"
)

const (
	// maxPrice is the most that one evaluation may cost, in units of a tenth of a
	// microsecond or two: each step is one or a few.
	maxPrice = 500
	// maxValueBytes is how long a value of a request may be for an expression to
	// look at it.
	maxValueBytes = 8 << 10
	// maxRead is how many bytes one evaluation may read to find names.
	maxRead = 16 << 10
	// visitsPerUnit are visits of a pattern's instruction in the time of a unit.
	visitsPerUnit = 16
	// bytesPerUnit are read or written by a function in the time of a unit.
	bytesPerUnit = 10
	// quickBytesPerUnit are those of functions that compare many bytes at once.
	quickBytesPerUnit = 64
)

// price is what calls cost beyond what CEL says of its own functions: the length of
// each pattern of the expression, in instructions.
type price map[string]int

var _ interpreter.ActualCostEstimator = price{}

// CallCost counts the bytes of all texts that a function is given.
func (p price) CallCost(function, _ string, arguments []ref.Val, _ ref.Val) *uint64 {
	perUnit := bytesPerUnit
	switch function {
	case overloads.Contains, overloads.Size:
		perUnit = quickBytesPerUnit
	case overloads.Matches:
		return p.ofMatch(arguments)
	case functionInCIDR, functionLowerASCII, functionUpperASCII, functionTrim, functionSplit, functionIndexOf, functionSubstring,
		overloads.TypeConvertInt, overloads.TypeConvertUint, overloads.TypeConvertDouble, overloads.TypeConvertString, overloads.TypeConvertBool:
	default:
		return nil
	}
	size := 0
	for _, argument := range arguments {
		if text, ok := argument.(types.String); ok {
			size += len(text)
		}
	}
	cost := uint64(1 + size/perUnit)
	return &cost
}

// ofMatch counts how often an instruction of the pattern may be at a byte. A match that
// boundedMatches refused took no time.
func (p price) ofMatch(arguments []ref.Val) *uint64 {
	cost := uint64(1)
	text, isText := arguments[0].(types.String)
	pattern, isPattern := arguments[1].(types.String)
	if !isText || !isPattern {
		return &cost
	}
	if most := visits(p[string(pattern)], len(text)); most <= maxVisits {
		cost += uint64(most / visitsPerUnit)
	}
	return &cost
}
