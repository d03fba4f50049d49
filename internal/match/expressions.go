// Copyright The Penstock Authors.
// SPDX-License-Identifier: Apache-2.0

package match

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/penstock-dev/penstock/internal/match/expression"
	"github.com/penstock-dev/penstock/internal/ruleset"
)

// ExpressionError says that an expression gave no value for a request: it failed, or
// took too long. It has nothing of what the client sent.
type ExpressionError struct {
	Policy *ruleset.Policy
	// Rule is the rule whose expression it is; nil for an exemption.
	Rule *ruleset.Rule
	// Field is where the expression is written, in the rule, or in the policy's spec.
	Field string
	// Reason is why it gave none, in one of a few words.
	Reason string
}

// writtenProgram is an expression with the field that it is written in.
type writtenProgram struct {
	*expression.Program
	field string
}

// asker is the rule or the exemptions whose expressions are asked.
type asker struct {
	policy *ruleset.Policy
	// rule is nil for exemptions.
	rule      *ruleset.Rule
	client    *clientSource
	providers providers
}

// holds evaluates a condition. If it fails, that is remembered, and ok is false; so it
// is if the condition holds only for one of the ways in which apps part a query.
func (a *asker) holds(request *request, program *writtenProgram, how *met) (holds, ok bool) {
	holds, ok = a.holdsAsParted(request, program, how)
	if ok && request.hasTwoQueries(program.Program) {
		request.parted = atSemicolons
		also, alsoOK := a.holdsAsParted(request, program, how)
		request.parted = atAmpersands
		if !alsoOK || also != holds {
			return false, false
		}
	}
	return holds, ok
}

// holdsAsParted evaluates a condition for the query as it is parted for now.
func (a *asker) holdsAsParted(request *request, program *writtenProgram, how *met) (holds, ok bool) {
	request.scope = scope{request: request, asker: a, how: how}
	holds, err := program.Holds(&request.scope)
	request.remember(a, program, err)
	return holds, err == nil
}

// text evaluates a key; one that fails is empty. It is ambiguous if apps that part the
// query in two ways are given two keys.
func (a *asker) text(request *request, program *writtenProgram, how *met) (text string, ambiguous bool) {
	request.scope = scope{request: request, asker: a, how: how}
	text, err := program.Text(&request.scope)
	if request.hasTwoQueries(program.Program) {
		request.parted = atSemicolons
		other, otherErr := program.Text(&request.scope)
		request.parted = atAmpersands
		ambiguous, err = other != text, cmp.Or(err, otherErr)
	}
	request.remember(a, program, err)
	return text, ambiguous
}

// number evaluates a cost; one that fails is the default. If apps that part the query in
// two ways are given two costs, it is the larger.
func (a *asker) number(request *request, program *writtenProgram, how *met) int64 {
	request.scope = scope{request: request, asker: a, how: how}
	number, err := program.Number(&request.scope)
	if request.hasTwoQueries(program.Program) {
		request.parted = atSemicolons
		other, otherErr := program.Number(&request.scope)
		request.parted = atAmpersands
		number, err = max(number, other), cmp.Or(err, otherErr)
	}
	request.remember(a, program, err)
	if err != nil {
		return max(number, defaultCost)
	}
	return number
}

// remember counts what failed, and only once what fails for both ways to part a query.
// The error itself may hold what a client sent.
func (r *request) remember(a *asker, program *writtenProgram, err error) {
	if err == nil {
		return
	}
	isSame := func(other ExpressionError) bool {
		return other.Policy == a.policy && other.Rule == a.rule && other.Field == program.field
	}
	if r.parted == atSemicolons && slices.ContainsFunc(r.failed, isSame) {
		return
	}
	r.failed = append(r.failed, ExpressionError{
		Policy: a.policy, Rule: a.rule, Field: program.field, Reason: string(expression.ReasonOf(err)),
	})
}

// ruleExpressions are the compiled expressions of a rule.
type ruleExpressions struct {
	asker
	when []writtenProgram
	// tiers are in the order of the rule's.
	tiers []writtenProgram
	// keys are by their text.
	keys map[string]*writtenProgram
	// cost is nil if the cost is no expression.
	cost *writtenProgram
	// tiersLookAtQuery is true if a tier's expression asks for the query.
	tiersLookAtQuery bool
	// whenLooksAtPaths is true if an expression of when asks for the path, looksAtPaths
	// if any does.
	whenLooksAtPaths, looksAtPaths bool
	// looksAtClients is true if any asks for the client's address.
	looksAtClients bool
}

func compileExpressions(asker asker) (*ruleExpressions, error) {
	ready, rule := &ruleExpressions{asker: asker}, asker.rule
	for i, text := range rule.When {
		program, err := ready.compile(expression.Condition, text, fmt.Sprintf("when[%d]", i))
		if err != nil {
			return nil, fmt.Errorf("when: %w", err)
		}
		ready.when = append(ready.when, *program)
	}
	ready.whenLooksAtPaths = ready.looksAtPaths
	for i := range rule.Tiers {
		program, err := ready.compile(expression.Condition, rule.Tiers[i].When, fmt.Sprintf("tiers[%d].when", i))
		if err != nil {
			return nil, fmt.Errorf("tier %q: when: %w", rule.Tiers[i].Name, err)
		}
		ready.tiers = append(ready.tiers, *program)
		ready.tiersLookAtQuery = ready.tiersLookAtQuery || program.LooksAtQuery()
	}
	if err := ready.compileKeys(rule.Key); err != nil {
		return nil, err
	}
	if rule.Cost != nil && rule.Cost.Request.Source == ruleset.CostExpression {
		program, err := ready.compile(expression.Cost, rule.Cost.Request.Name, "cost.request.expression")
		if err != nil {
			return nil, fmt.Errorf("cost: expression: %w", err)
		}
		ready.cost = program
	}
	return ready, nil
}

func (e *ruleExpressions) compileKeys(parts []ruleset.KeyPart) error {
	for i := range parts {
		for j, source := range parts[i].From {
			if source.Kind != ruleset.SourceExpression || e.keys[source.Name] != nil {
				continue
			}
			program, err := e.compile(expression.Key, source.Name, fmt.Sprintf("key[%d].from[%d].expression", i, j))
			if err != nil {
				return fmt.Errorf("key part %q: expression: %w", parts[i].Name, err)
			}
			if e.keys == nil {
				e.keys = make(map[string]*writtenProgram)
			}
			e.keys[source.Name] = program
		}
	}
	return nil
}

func (e *ruleExpressions) compile(kind expression.Kind, text, field string) (*writtenProgram, error) {
	program, err := expression.Compile(kind, text)
	if err != nil {
		return nil, err
	}
	e.looksAtPaths = e.looksAtPaths || program.LooksAtPaths()
	e.looksAtClients = e.looksAtClients || program.LooksAtClients()
	return &writtenProgram{program, field}, nil
}

// keyOf is what an expression yields as a part of the key; empty if it fails, and
// ambiguous if apps that read the query in two ways are given two keys.
func (e *ruleExpressions) keyOf(request *request, text string, how *met) (key string, ambiguous bool) {
	return e.text(request, e.keys[text], how)
}

// appliesTo reports whether the request meets the rule and all expressions of its when
// hold, and how. One that fails counts as holding, and leaves that in doubt. Those that
// look at the path hold if they do for any reading that meets the rule.
func (r *ruleMatcher) appliesTo(request *request, paths []string) (met, bool) {
	how, meets := r.meets(request, paths)
	switch {
	case !meets || len(r.expressions.when) == 0:
		return how, meets
	case !r.expressions.whenLooksAtPaths || len(paths) == 1:
		return r.whenHolds(request, how)
	}
	for i := range paths {
		if how, meets := r.meets(request, paths[i:i+1]); meets {
			if how, meets = r.whenHolds(request, how); meets {
				return how, true
			}
		}
	}
	return met{}, false
}

func (r *ruleMatcher) whenHolds(request *request, how met) (met, bool) {
	for i := range r.expressions.when {
		holds, ok := r.expressions.holds(request, &r.expressions.when[i], &how)
		if ok && !holds {
			return met{}, false
		}
		how.inDoubt = how.inDoubt || !ok
	}
	return how, true
}
