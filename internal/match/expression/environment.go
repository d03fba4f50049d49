// Copyright The Penstock Authors.
// SPDX-License-Identifier: Apache-2.0

package expression

import (
	"sync"

	"github.com/google/cel-go/cel"
	"github.com/google/cel-go/common/env"
	"github.com/google/cel-go/common/operators"
	"github.com/google/cel-go/common/overloads"
)

const (
	// maxText is how long an expression may be, in characters.
	maxText = 1024
	// maxDepth is how deep an expression may nest.
	maxDepth = 32
)

// standardFunctions are those of CEL that are offered. All others, those of bytes and
// of time, say nothing about a request.
var standardFunctions = []string{
	operators.Conditional, operators.LogicalAnd, operators.LogicalOr, operators.LogicalNot,
	operators.Equals, operators.NotEquals, operators.Less, operators.LessEquals, operators.Greater, operators.GreaterEquals,
	operators.Add, operators.Subtract, operators.Multiply, operators.Divide, operators.Modulo, operators.Negate,
	operators.Index, operators.In, operators.NotStrictlyFalse,
	overloads.Size, overloads.Contains, overloads.StartsWith, overloads.EndsWith, overloads.Matches,
	overloads.TypeConvertInt, overloads.TypeConvertUint, overloads.TypeConvertDouble, overloads.TypeConvertString,
	overloads.TypeConvertBool, overloads.TypeConvertDyn,
}

// environment knows the variables and functions. It takes some memory, so it is made
// once and only where there is an expression.
var environment = sync.OnceValues(func() (*cel.Env, error) {
	subset := env.NewLibrarySubset()
	for _, name := range standardFunctions {
		subset.AddIncludedFunctions(env.NewFunction(name))
	}
	options := []cel.EnvOption{
		cel.StdLib(cel.StdLibSubset(subset)),
		cel.ParserExpressionSizeLimit(maxText),
		cel.ParserRecursionLimit(maxDepth),
		cel.Variable(string(JWT), cel.MapType(cel.StringType, cel.MapType(cel.StringType, cel.DynType))),
	}
	for _, variable := range texts {
		options = append(options, cel.Variable(string(variable), cel.StringType))
	}
	for _, variable := range []Variable{Headers, Query, PathParams} {
		options = append(options, cel.Variable(string(variable), cel.MapType(cel.StringType, cel.StringType)))
	}
	return cel.NewCustomEnv(append(options, functions()...)...)
})
