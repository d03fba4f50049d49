// Copyright The Penstock Authors.
// SPDX-License-Identifier: Apache-2.0

package expression

import (
	"fmt"
	"regexp"
	"regexp/syntax"

	"github.com/google/cel-go/common/overloads"
	"github.com/google/cel-go/common/types"
	"github.com/google/cel-go/common/types/ref"
	"github.com/google/cel-go/interpreter"
)

// maxVisits bounds the work of one match, as instructions of the pattern times bytes
// of the text: RE2 does not visit an instruction twice at one byte. A visit takes a
// few nanoseconds.
const maxVisits = 16 << 10

// boundedMatches compiles the patterns of matches() with the program, and gives up
// before a match that could take long.
var boundedMatches = []*interpreter.RegexOptimization{
	{Function: overloads.Matches, OverloadID: overloads.Matches, RegexIndex: 1, Factory: boundMatch},
	{Function: overloads.Matches, OverloadID: overloads.MatchesString, RegexIndex: 1, Factory: boundMatch},
}

func boundMatch(call interpreter.InterpretableCall, text string) (interpreter.InterpretableCall, error) {
	pattern, instructions, err := compilePattern(text)
	if err != nil {
		return nil, err
	}
	match := func(values ...ref.Val) ref.Val {
		value, ok := values[0].(types.String)
		switch {
		case !ok:
			return types.MaybeNoSuchOverloadErr(values[0])
		case visits(instructions, len(value)) > maxVisits:
			return failed(TooLong, "matches() would take too long: a pattern of %d instructions for %d bytes", instructions, len(value))
		}
		return types.Bool(pattern.MatchString(string(value)))
	}
	return interpreter.NewCall(call.ID(), call.Function(), call.OverloadID(), call.Args(), match), nil
}

// maxInstructions leaves a pattern at least some 30 bytes to match.
const maxInstructions = 512

// compilePattern compiles a pattern and says of how many instructions it is.
func compilePattern(text string) (*regexp.Regexp, int, error) {
	parsed, err := syntax.Parse(text, syntax.Perl)
	if err != nil {
		return nil, 0, fmt.Errorf("the pattern is not one of RE2: %s: correct it", shortened(err.Error()))
	}
	program, err := syntax.Compile(parsed.Simplify())
	if err != nil {
		return nil, 0, fmt.Errorf("the pattern is not one of RE2: %s: correct it", shortened(err.Error()))
	}
	if len(program.Inst) > maxInstructions {
		return nil, 0, fmt.Errorf("the pattern becomes %d instructions, at most %d are allowed: repeat less in it", len(program.Inst), maxInstructions)
	}
	pattern, err := regexp.Compile(text)
	return pattern, len(program.Inst), err
}

// visits is how often a match may look at an instruction at most.
func visits(instructions, bytes int) int { return instructions * (bytes + 1) }
