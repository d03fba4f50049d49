// Copyright The Penstock Authors.
// SPDX-License-Identifier: Apache-2.0

package expression

import (
	"errors"
	"fmt"
	"strings"

	"github.com/google/cel-go/common/types"
	"github.com/google/cel-go/common/types/ref"
	"github.com/google/cel-go/interpreter"
)

// Reason is why an expression gave no value: one of a few words, and nothing of what a
// client sent.
type Reason string

// The reasons.
const (
	// TooLong is of an evaluation that was ended since it could take long.
	TooLong Reason = "tooLong"
	// TooLarge is of a value or a query that is longer than what is looked at.
	TooLarge Reason = "tooLarge"
	// Conversion is of a text that is not what it is read as, such as int('pro').
	Conversion Reason = "conversion"
	// Address is of what is no address, or no network, to inCIDR.
	Address Reason = "address"
	// Absent is of a name that is looked up in what has none, such as an absent claim.
	Absent Reason = "absent"
	// Outside is of a place that a text or a list has not.
	Outside Reason = "outside"
	// Arithmetic is of a division by zero, and of a number that is too large.
	Arithmetic Reason = "arithmetic"
	// Type is of a value of another type than it was used as, or than the expression
	// has to yield.
	Type Reason = "type"
	// Other is of all else.
	Other Reason = "other"
)

// failure is an error that is made here.
type failure struct {
	reason Reason
	text   string
}

func (f *failure) Error() string { return f.text }

// failed is the value of what fails.
func failed(reason Reason, format string, arguments ...any) ref.Val {
	return types.WrapErr(&failure{reason: reason, text: fmt.Sprintf(format, arguments...)})
}

// messages are how errors of CEL begin, which have no other mark.
var messages = []struct {
	start  string
	reason Reason
}{
	{"type conversion error", Conversion},
	{"index", Outside}, {"invalid index", Outside}, {"no such key", Absent},
	{"division by zero", Arithmetic}, {"modulus by zero", Arithmetic}, {"integer overflow", Arithmetic}, {"unsigned integer overflow", Arithmetic},
	{"no such overload", Type}, {"unsupported comprehension range", Type}, {"got '", Type},
}

// ReasonOf is the reason of an error of a Program.
func ReasonOf(err error) Reason {
	if own, ok := errors.AsType[*failure](err); ok {
		return own.reason
	}
	if ended, ok := errors.AsType[interpreter.EvalCancelledError](err); ok && ended.Cause == interpreter.CostLimitExceeded {
		return TooLong
	}
	if of, ok := errors.AsType[*types.Err](err); ok {
		for i := range messages {
			if strings.HasPrefix(of.Error(), messages[i].start) {
				return messages[i].reason
			}
		}
	}
	return Other
}
