// Copyright The Penstock Authors.
// SPDX-License-Identifier: Apache-2.0

package match

import (
	"fmt"
	"strings"

	"github.com/penstock-dev/penstock/internal/ruleset"
)

// defaultCost is that of a request which names none that can be read.
const defaultCost = 1

// costOf is how much a request counts as. What it says itself is at least 1: nobody
// can make a request free. Which of several values the app takes cannot be known, so
// the largest counts.
func costOf(cost *ruleset.Cost, view View) int64 {
	if cost == nil {
		return defaultCost
	}
	request := &cost.Request
	most := int64(defaultCost)
	switch request.Source {
	case ruleset.CostHeader:
		for _, value := range view.Header(request.Name) {
			if said, ok := WholeNumber(value, request.Max); ok {
				most = max(most, said)
			}
		}
	case ruleset.CostQueryParam:
		forParameter(view.Target(), request.Name, func(value string) {
			if said, ok := WholeNumber(value, request.Max); ok {
				most = max(most, said)
			}
		})
	default:
		return request.Value
	}
	return min(most, request.Max)
}

// costFor is how much a request counts as that met the rule. An expression that fails
// counts as 1, and none makes a request free.
func (r *ruleMatcher) costFor(request *request, how *met) int64 {
	if r.expressions.cost == nil {
		return costOf(r.rule.Cost, request.view)
	}
	return min(max(r.expressions.number(request, r.expressions.cost, how), defaultCost), r.rule.Cost.Request.Max)
}

// WholeNumber reads digits as a number, cut to most: more digits than fit are still
// a number. It reports false for anything else, such as a sign or a fraction.
func WholeNumber(text string, most int64) (number int64, ok bool) {
	text = strings.Trim(text, " \t")
	for _, c := range []byte(text) {
		if c < '0' || c > '9' {
			return 0, false
		}
		number = min(number*10+int64(c-'0'), most)
	}
	return number, text != ""
}

// checkCost refuses what would otherwise silently count as something else.
func checkCost(cost *ruleset.Cost) error {
	if cost == nil {
		return nil
	}
	switch request := &cost.Request; request.Source {
	case ruleset.CostValue:
	case ruleset.CostHeader, ruleset.CostQueryParam, ruleset.CostExpression:
		if request.Max < 1 {
			return fmt.Errorf("cost from %s %q has no max", request.Source, request.Name)
		}
	default:
		return fmt.Errorf("cost source %q is not known to this version", request.Source)
	}
	return nil
}
