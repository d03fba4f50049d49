// Copyright The Penstock Authors.
// SPDX-License-Identifier: Apache-2.0

package expression

import (
	"fmt"
	"net/netip"
	"slices"

	"github.com/google/cel-go/common/ast"
	"github.com/google/cel-go/common/operators"
	"github.com/google/cel-go/common/overloads"
	"github.com/google/cel-go/common/types"
)

// inspected is what is to know of a checked expression.
type inspected struct {
	looksAtPaths, looksAtQuery, looksAtClients bool
	// providers are those that are written out.
	providers []string
	// metered says that an evaluation could take long, so that its steps are counted.
	metered bool
	// patterns are those of matches(), with their number of instructions.
	patterns price
}

// inspect finds what a checked expression may not do though its types fit.
func inspect(checked *ast.AST) (inspected, error) {
	found := inspected{patterns: make(price)}
	root := ast.NavigateAST(checked)
	for _, node := range ast.MatchDescendants(root, ast.AllMatcher()) {
		variable := Variable("")
		if info, known := checked.ReferenceMap()[node.ID()]; known {
			variable = Variable(info.Name)
		}
		found.looksAtPaths = found.looksAtPaths || variable == Path || variable == PathParams
		found.looksAtQuery = found.looksAtQuery || variable == Query
		found.looksAtClients = found.looksAtClients || variable == ClientIP
		found.metered = found.metered || isMetered(node)
		if name, ok := lookedUp(node); ok && variable == JWT && !slices.Contains(found.providers, name) {
			found.providers = append(found.providers, name)
		}
		switch {
		case slices.Contains(maps, variable) && !isLookup(node):
			return found, fmt.Errorf("%s%s is taken as a whole: look up a name in it, such as %s['name'], or ask whether 'name' in %s",
				placeOf(checked, node), variable, variable, variable)
		case node.Kind() == ast.CallKind:
			if err := found.inspectCall(checked, node); err != nil {
				return found, err
			}
		}
	}
	return found, nil
}

// isLookup reports whether a map is used to look up a name: nobody goes through all.
func isLookup(node ast.NavigableExpr) bool {
	parent, ok := node.Parent()
	if !ok {
		return false
	}
	if parent.Kind() == ast.SelectKind {
		return true
	}
	if parent.Kind() != ast.CallKind {
		return false
	}
	call := parent.AsCall()
	switch call.FunctionName() {
	case operators.Index:
		return call.Args()[0].ID() == node.ID()
	case operators.In:
		return call.Args()[1].ID() == node.ID()
	}
	return false
}

// lookedUp is the name that is looked up in a map, if it is written out.
func lookedUp(node ast.NavigableExpr) (name string, ok bool) {
	parent, hasParent := node.Parent()
	switch {
	case !hasParent:
		return "", false
	case parent.Kind() == ast.SelectKind:
		return parent.AsSelect().FieldName(), true
	case parent.Kind() != ast.CallKind:
		return "", false
	}
	call := parent.AsCall()
	switch call.FunctionName() {
	case operators.Index:
		return literal(call.Args()[1])
	case operators.In:
		return literal(call.Args()[0])
	}
	return "", false
}

// unmetered are functions that take little time whatever they are given: no expression
// has room for so many of them that they would take long.
var unmetered = []string{
	operators.Conditional, operators.LogicalAnd, operators.LogicalOr, operators.LogicalNot,
	operators.Equals, operators.NotEquals, operators.Less, operators.LessEquals, operators.Greater, operators.GreaterEquals,
	operators.Index, operators.In, overloads.StartsWith, overloads.EndsWith, functionInCIDR,
}

// isMetered reports whether a step may take long. Counting steps takes longer than most
// expressions do.
func isMetered(node ast.NavigableExpr) bool {
	switch node.Kind() {
	case ast.ComprehensionKind:
		return true
	case ast.CallKind:
		return !slices.Contains(unmetered, node.AsCall().FunctionName())
	default:
		return false
	}
}

// inspectCall looks at texts that a function reads as something else.
func (f *inspected) inspectCall(checked *ast.AST, node ast.NavigableExpr) error {
	call := node.AsCall()
	arguments := call.Args()
	if len(arguments) == 0 {
		return nil
	}
	last := arguments[len(arguments)-1]
	text, isText := literal(last)
	switch call.FunctionName() {
	case overloads.Matches:
		if !isText {
			return fmt.Errorf("%smatches() has a pattern that is not written out: write it in quotes", placeOf(checked, node))
		}
		_, instructions, err := compilePattern(text)
		if err != nil {
			return fmt.Errorf("%s%w", placeOf(checked, last), err)
		}
		f.patterns[text] = instructions
	case functionInCIDR:
		if _, err := netip.ParsePrefix(text); isText && err != nil {
			return fmt.Errorf("%s%q is not a CIDR: write one such as '10.0.0.0/8'", placeOf(checked, last), shortened(text))
		}
	}
	return nil
}

func literal(expr ast.Expr) (string, bool) {
	if expr.Kind() != ast.LiteralKind {
		return "", false
	}
	text, ok := expr.AsLiteral().(types.String)
	return string(text), ok
}

func placeOf(checked *ast.AST, expr ast.Expr) string {
	location := checked.SourceInfo().GetStartLocation(expr.ID())
	return place(location.Line(), location.Column())
}
