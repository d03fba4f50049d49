// Copyright The Penstock Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"net/http"
	"strconv"
	"strings"

	"github.com/penstock-dev/penstock/internal/ruleset"
)

// termsText says what of a rule is not as it is by default.
func termsText(rule *ruleset.Rule) string {
	var terms []string
	if cost := costText(rule.Cost); cost != "" {
		terms = append(terms, cost)
	}
	switch {
	case rule.PodScoped:
		terms = append(terms, "counted in the memory of each pod alone (scope Pod)")
	case countsTargetsApart(rule):
		terms = append(terms, "counted for each target apart (scope Target), of which there is one here")
	}
	switch {
	case rule.Shadow:
		terms = append(terms, "a shadow that refuses nothing")
	case rule.EnforcePercent != nil:
		terms = append(terms, fmt.Sprintf("refuses %d %% of what is over the limit (enforcePercent)", *rule.EnforcePercent))
	}
	var text strings.Builder
	for _, term := range terms {
		text.WriteString("; " + term)
	}
	return text.String()
}

func countsTargetsApart(rule *ruleset.Rule) bool {
	lists := [][]ruleset.Limit{rule.Limits}
	for i := range rule.Tiers {
		lists = append(lists, rule.Tiers[i].Limits)
	}
	for _, limits := range lists {
		for i := range limits {
			if len(limits[i].TargetKeys) > 0 {
				return true
			}
		}
	}
	return false
}

// costText says what a request costs; empty for the one that it costs by default.
func costText(cost *ruleset.Cost) string {
	if cost == nil {
		return ""
	}
	var terms []string
	request := requestCostText(&cost.Request)
	switch {
	case cost.Response != nil:
		terms = append(terms, fmt.Sprintf("a request costs %s and then what the answer's header %s says (at most %d)",
			request, http.CanonicalHeaderKey(cost.Response.Header), cost.Response.Max))
	case cost.Request != (ruleset.RequestCost{Source: ruleset.CostValue, Value: 1}):
		terms = append(terms, "a request costs "+request)
	}
	if len(cost.CountOn) > 0 {
		terms = append(terms, "counts only where the answer is "+codesText(cost.CountOn))
	}
	return strings.Join(terms, "; ")
}

func requestCostText(cost *ruleset.RequestCost) string {
	most := fmt.Sprintf(" (at most %d)", cost.Max)
	switch cost.Source {
	case ruleset.CostHeader:
		return "what header " + http.CanonicalHeaderKey(cost.Name) + " says" + most
	case ruleset.CostQueryParam:
		return "what parameter " + cost.Name + " says" + most
	case ruleset.CostExpression:
		return cost.Name + most
	default:
		return strconv.FormatInt(cost.Value, 10)
	}
}

func codesText(codes []int) string {
	texts := make([]string, len(codes))
	for i, code := range codes {
		texts[i] = strconv.Itoa(code)
	}
	return strings.Join(texts, ", ")
}
