// Copyright The Penstock Authors.
// SPDX-License-Identifier: Apache-2.0

package expression

import (
	"errors"
	"fmt"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"sync"
	"weak"

	"github.com/google/cel-go/cel"
)

// source is what a program is made of.
type source struct {
	kind Kind
	text string
}

// shared are the programs in use: rules often say the same, and new rules mostly say
// what the ones before them said.
var shared = struct {
	sync.Mutex
	programs map[source]weak.Pointer[Program]
}{programs: make(map[source]weak.Pointer[Program])}

// Compile readies an expression, or says where it is wrong and how to mend it.
func Compile(kind Kind, text string) (*Program, error) {
	from := source{kind: kind, text: text}
	shared.Lock()
	program := shared.programs[from].Value()
	shared.Unlock()
	if program != nil {
		return program, nil
	}
	program, err := compile(from)
	if err != nil {
		return nil, err
	}
	shared.Lock()
	defer shared.Unlock()
	shared.programs[from] = weak.Make(program)
	runtime.AddCleanup(program, forget, from)
	return program, nil
}

// forget drops a program that nobody uses any more, unless there is one anew.
func forget(from source) {
	shared.Lock()
	defer shared.Unlock()
	if shared.programs[from].Value() == nil {
		delete(shared.programs, from)
	}
}

func compile(from source) (*Program, error) {
	environment, err := environment()
	if err != nil {
		return nil, fmt.Errorf("make the environment of expressions: %w", err)
	}
	checked, issues := environment.Compile(from.text)
	if issues.Err() != nil {
		return nil, firstOf(issues)
	}
	if err := checkResult(from.kind, checked.OutputType()); err != nil {
		return nil, err
	}
	found, err := inspect(checked.NativeRep())
	if err != nil {
		return nil, err
	}
	options := []cel.ProgramOption{cel.EvalOptions(cel.OptOptimize), cel.OptimizeRegex(boundedMatches...)}
	if found.metered {
		options = append(options, cel.CostLimit(maxPrice), cel.CostTracking(found.patterns))
	}
	program, err := environment.Program(checked, options...)
	if err != nil {
		return nil, errors.New(shortened(err.Error()) + ": correct it")
	}
	return &Program{
		program: program, looksAtPaths: found.looksAtPaths, looksAtQuery: found.looksAtQuery, looksAtClients: found.looksAtClients,
		providers: found.providers,
	}, nil
}

// firstOf tells the first of what is wrong, and where.
func firstOf(issues *cel.Issues) error {
	found := issues.Errors()
	if len(found) == 0 {
		return issues.Err()
	}
	first := found[0]
	return fmt.Errorf("%s%s: %s", place(first.Location.Line(), first.Location.Column()), shortened(first.Message), mendOf(first.Message))
}

// maxMessage is how much is told of what is wrong, in bytes: it may repeat all of the
// expression.
const maxMessage = 200

// noContainer ends messages of CEL: names are looked up in a container, which
// expressions here never have.
const noContainer = " (in container '')"

func shortened(message string) string {
	message = strings.ReplaceAll(message, noContainer, "")
	if len(message) <= maxMessage {
		return message
	}
	return strings.ToValidUTF8(message[:maxMessage], "") + "…"
}

// place says where in the text something is; empty where that is not known.
func place(line, column int) string {
	switch {
	case line < 1 || column < 0:
		return ""
	case line == 1:
		return fmt.Sprintf("at character %d: ", column+1)
	default:
		return fmt.Sprintf("at line %d, character %d: ", line, column+1)
	}
}

func mendOf(message string) string {
	switch {
	case strings.Contains(message, "undeclared reference to 'request'"):
		return "after request there is " + names()
	case strings.Contains(message, "undeclared reference"):
		return meant(message) + "all that is known of a request begins with request: " + names() + "; the functions are size, contains, startsWith, endsWith, matches, " +
			strings.Join([]string{functionInCIDR, functionLowerASCII, functionUpperASCII, functionTrim, functionSplit, functionIndexOf, functionSubstring}, ", ") +
			", int, uint, double, string, bool, has, all, exists, exists_one, map and filter"
	case strings.Contains(message, "no matching overload"):
		return "give it values of the types that it takes"
	case strings.Contains(message, "exceed"):
		return "make it simpler, or part it into several"
	default:
		return "write an expression of CEL, such as request.method == 'GET'"
	}
}

// undeclared is what CEL says of a name that there is not.
var undeclared = regexp.MustCompile(`undeclared reference to '([A-Za-z_]+)'`)

// meant suggests the variable whose last part is likely meant by a name alone.
func meant(message string) string {
	found := undeclared.FindStringSubmatch(message)
	if found == nil {
		return ""
	}
	name := plain(found[1])
	for _, variable := range known() {
		if last := plain(strings.TrimPrefix(string(variable), "request.")); last == name || last == name+"s" {
			return "did you mean " + string(variable) + "? "
		}
	}
	return ""
}

// plain is a name without what people write in one way or another.
func plain(name string) string { return strings.ReplaceAll(strings.ToLower(name), "_", "") }

func known() []Variable { return slices.Concat(texts, maps) }

func names() string {
	var text strings.Builder
	for i, variable := range known() {
		if i > 0 {
			text.WriteString(", ")
		}
		text.WriteString(strings.TrimPrefix(string(variable), "request"))
	}
	return text.String()
}

// checkResult wants an expression of the type that its kind yields, or of one that is
// known only when it is evaluated, as a claim's.
func checkResult(kind Kind, yields *cel.Type) error {
	wanted, name := []*cel.Type{cel.BoolType}, "a bool, such as request.method == 'GET'"
	switch kind {
	case Key:
		wanted, name = []*cel.Type{cel.StringType}, "a string, such as request.headers['x-tenant']"
	case Cost:
		wanted, name = []*cel.Type{cel.IntType, cel.UintType, cel.DoubleType}, "a number, such as int(request.query['items'])"
	}
	if yields.IsExactType(cel.DynType) {
		return nil
	}
	for _, one := range wanted {
		if yields.IsExactType(one) {
			return nil
		}
	}
	return errors.New("yields " + yields.String() + ": write one that yields " + name)
}
