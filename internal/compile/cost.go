// Copyright The Penstock Authors.
// SPDX-License-Identifier: Apache-2.0

package compile

import (
	"slices"
	"strconv"
	"strings"

	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/penstock-dev/penstock/api/v1alpha1"
	"github.com/penstock-dev/penstock/internal/match/expression"
	"github.com/penstock-dev/penstock/internal/ruleset"
)

const (
	maxCost = 1 << 31
	// maxPlaces is the most places of a Concurrency limit that one request takes.
	maxPlaces      = 10_000
	maxStatusCodes = 32
)

// compileCost compiles a rule's cost, which its limits bound. A cost of 1 has no form.
func compileCost(cost *v1alpha1.Cost, limits []ruleset.Limit, at *field.Path, found *findings) *ruleset.Cost {
	if cost == nil {
		return nil
	}
	if cost.Request == nil && cost.Response == nil && cost.CountOn == nil {
		found.invalid(at, "is empty: write request, response or countOn, or remove cost")
	}
	form := &ruleset.Cost{
		Request:  compileRequestCost(cost.Request, limits, at.Child("request"), found),
		Response: compileResponseCost(cost.Response, limits, at.Child("response"), found),
		CountOn:  compileCountOn(cost.CountOn, limits, at.Child("countOn"), found),
	}
	if !form.IsCorrected() && form.Request == (ruleset.RequestCost{Source: ruleset.CostValue, Value: 1}) {
		return nil
	}
	return form
}

func compileRequestCost(cost *v1alpha1.RequestCost, limits []ruleset.Limit, at *field.Path, found *findings) ruleset.RequestCost {
	if cost == nil {
		return ruleset.RequestCost{Source: ruleset.CostValue, Value: 1}
	}
	form := ruleset.RequestCost{Source: ruleset.CostValue}
	sources := 0
	if cost.Value != nil {
		sources++
		form.Value = *cost.Value
		checkFixedCost(cost, limits, at, found)
	} else {
		form.Max = compileMaxCost(cost.Max, limits, at.Child("max"), found)
	}
	if cost.Header != nil {
		sources++
		form.Source, form.Name = ruleset.CostHeader, compileHeaderName(cost.Header.Name, at.Child("header", "name"), found)
	}
	if cost.QueryParam != nil {
		sources++
		form.Source, form.Name = ruleset.CostQueryParam, cost.QueryParam.Name
		if form.Name == "" {
			found.invalid(at.Child("queryParam", "name"), "is empty: write the name of a query parameter")
		}
	}
	if cost.Expression != "" {
		sources++
		form.Source, form.Name = ruleset.CostExpression, cost.Expression
		checkExpression(expression.Cost, cost.Expression, at.Child("expression"), found)
	}
	if sources != 1 {
		found.invalid(at, "has %d sources: write exactly one of value, header, queryParam and expression", sources)
	}
	return form
}

// checkFixedCost wants a cost that all limits can hold.
func checkFixedCost(cost *v1alpha1.RequestCost, limits []ruleset.Limit, at *field.Path, found *findings) {
	if cost.Max != nil {
		found.invalid(at.Child("max"), "bounds what a request says, and value is fixed: remove max")
	}
	value, at := *cost.Value, at.Child("value")
	if value < 0 || value > maxCost {
		found.invalid(at, "is %d: write a number from 0 to %d", value, int64(maxCost))
		return
	}
	if value > maxPlaces && slices.ContainsFunc(limits, isConcurrency) {
		found.invalid(at, "is %d, but a request takes at most %d places of a Concurrency limit: lower it", value, maxPlaces)
	}
	for _, limit := range limits {
		if value > limit.Burst {
			found.invalid(at, "is %d, but limit %q never holds more than %d, so that no request would be admitted: lower it, or raise the limit", value, limit.Name, limit.Burst)
			return
		}
	}
}

// compileMaxCost is the most that a request may cost; absent is the smallest capacity
// of the limits.
func compileMaxCost(most *int64, limits []ruleset.Limit, at *field.Path, found *findings) int64 {
	places := slices.ContainsFunc(limits, isConcurrency)
	if most == nil {
		smallest := int64(maxCost)
		if places {
			smallest = maxPlaces
		}
		for _, limit := range limits {
			smallest = min(smallest, max(limit.Burst, 1))
		}
		return smallest
	}
	switch {
	case *most < 1 || *most > maxCost:
		found.invalid(at, "is %d: write a number from 1 to %d", *most, int64(maxCost))
	case places && *most > maxPlaces:
		found.invalid(at, "is %d, but a request takes at most %d places of a Concurrency limit: lower it", *most, maxPlaces)
	}
	return *most
}

func isConcurrency(limit ruleset.Limit) bool { return limit.Algorithm == ruleset.Concurrency }

func compileHeaderName(name string, at *field.Path, found *findings) string {
	if !headerName.MatchString(name) || len(name) > maxHeaderName {
		found.invalid(at, "%q is not the name of a header: write one such as X-Cost", name)
	}
	return strings.ToLower(name)
}

func compileResponseCost(cost *v1alpha1.ResponseCost, limits []ruleset.Limit, at *field.Path, found *findings) *ruleset.ResponseCost {
	if cost == nil {
		return nil
	}
	if limit, ok := shaping(limits); ok {
		found.invalid(at, "is charged once the answer is known, which limit %q cannot (%s): remove response, or move that limit to a rule of its own",
			limit.Name, limit.Algorithm)
	}
	return &ruleset.ResponseCost{
		Header: compileHeaderName(cost.Header, at.Child("header"), found),
		Max:    compileMaxCost(cost.Max, limits, at.Child("max"), found),
	}
}

func compileCountOn(countOn *v1alpha1.CountOn, limits []ruleset.Limit, at *field.Path, found *findings) []int {
	if countOn == nil {
		return nil
	}
	if limit, ok := shaping(limits); ok {
		found.invalid(at, "gives back what a request took once its answer is known, which limit %q cannot (%s): remove countOn, or move that limit to a rule of its own",
			limit.Name, limit.Algorithm)
	}
	codes := at.Child("statusCodes")
	if len(countOn.StatusCodes) == 0 {
		found.invalid(codes, "is empty: write the status codes of answers that count, such as \"401\"")
	}
	if length := len(countOn.StatusCodes); length > maxStatusCodes {
		found.invalid(codes, "has %d status codes, at most %d are allowed: keep those that your app answers with, such as [\"401\", \"403\"], or remove countOn so that all answers count",
			length, maxStatusCodes)
	}
	var compiled []int
	for i, text := range countOn.StatusCodes {
		code, err := strconv.Atoi(text)
		if err != nil || len(text) != 3 || code < 100 || code > 599 {
			found.invalid(codes.Index(i), "%q is not a status code: write three digits from 100 to 599, such as \"401\", and each code of a class such as 4xx by itself", text)
		}
		compiled = append(compiled, code)
	}
	return compiled
}
