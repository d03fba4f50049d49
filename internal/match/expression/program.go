// Copyright The Penstock Authors.
// SPDX-License-Identifier: Apache-2.0

package expression

import (
	"fmt"
	"math"

	"github.com/google/cel-go/cel"
	"github.com/google/cel-go/common/types"
	"github.com/google/cel-go/common/types/ref"
)

// Kind is what an expression yields.
type Kind int

const (
	// Condition yields a bool.
	Condition Kind = iota
	// Key yields a string.
	Key
	// Cost yields a whole number.
	Cost
)

// Program is a compiled expression. It never changes, so that any number of requests
// may evaluate it at once.
type Program struct {
	program        cel.Program
	looksAtPaths   bool
	looksAtQuery   bool
	looksAtClients bool
	providers      []string
}

// LooksAtPaths reports whether the expression asks for the path or its parameters.
func (p *Program) LooksAtPaths() bool { return p.looksAtPaths }

// LooksAtQuery reports whether the expression asks for parameters of the query.
func (p *Program) LooksAtQuery() bool { return p.looksAtQuery }

// Providers are the names of those whose claims the expression asks for, as far as they
// are written out in it.
func (p *Program) Providers() []string { return p.providers }

// LooksAtClients reports whether the expression asks for the client's address.
func (p *Program) LooksAtClients() bool { return p.looksAtClients }

// Holds evaluates a condition.
func (p *Program) Holds(request Request) (bool, error) {
	value, err := p.evaluate(request)
	if err != nil {
		return false, err
	}
	holds, ok := value.(types.Bool)
	if !ok {
		return false, &failure{Type, "evaluate condition: it yields a value of type " + value.Type().TypeName() + ", no bool"}
	}
	return bool(holds), nil
}

// Text evaluates a key.
func (p *Program) Text(request Request) (string, error) {
	value, err := p.evaluate(request)
	if err != nil {
		return "", err
	}
	text, ok := value.(types.String)
	if !ok {
		return "", &failure{Type, "evaluate key: it yields a value of type " + value.Type().TypeName() + ", no string"}
	}
	return string(text), nil
}

var errNoWholeNumber = &failure{Type, "evaluate cost: it yields no whole number"}

// Number evaluates a cost. It is whole: an int, or a uint or double that is one. More
// than fits an int64 is cut to the most that does.
func (p *Program) Number(request Request) (int64, error) {
	value, err := p.evaluate(request)
	if err != nil {
		return 0, err
	}
	switch number := value.(type) {
	case types.Int:
		return int64(number), nil
	case types.Uint:
		return int64(min(uint64(number), math.MaxInt64)), nil
	case types.Double:
		switch float := float64(number); {
		case math.Trunc(float) != float:
			return 0, errNoWholeNumber
		case float >= math.MaxInt64:
			return math.MaxInt64, nil
		case float <= math.MinInt64:
			return math.MinInt64, nil
		default:
			return int64(float), nil
		}
	}
	return 0, errNoWholeNumber
}

func (p *Program) evaluate(request Request) (ref.Val, error) {
	v := readyVariables.Get().(*variables)
	v.request, v.read = request, 0
	value, _, err := p.program.Eval(v)
	v.request = nil
	readyVariables.Put(v)
	if err != nil {
		return nil, fmt.Errorf("evaluate expression: %w", err)
	}
	return value, nil
}
