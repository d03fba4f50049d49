// Copyright The Penstock Authors.
// SPDX-License-Identifier: Apache-2.0

package compile

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/penstock-dev/penstock/api/v1alpha1"
	"github.com/penstock-dev/penstock/internal/ruleset"
)

func TestTooManyStatusCodesAreToldOfTheBound(t *testing.T) {
	t.Parallel()
	codes := make([]string, maxStatusCodes, maxStatusCodes+2)
	for i := range codes {
		codes[i] = "401"
	}
	for code, want := range map[string]string{
		"403": "has 33 status codes, at most 32 are allowed: keep those that your app answers with",
		"4xx": "each code of a class such as 4xx by itself",
	} {
		result, _ := compileOne(t, nil, nil, newPolicy("web", func(p *v1alpha1.RateLimitPolicy) {
			p.Spec.Rules[0].Cost = &v1alpha1.Cost{CountOn: &v1alpha1.CountOn{StatusCodes: append(codes[:32:32], code)}}
		}))
		if !slices.ContainsFunc(result.Problems, func(p v1alpha1.Problem) bool { return strings.Contains(p.Message, want) }) {
			t.Errorf("problems %+v, want one with %q", result.Problems, want)
		}
	}
}

func TestCostIsCompiled(t *testing.T) {
	t.Parallel()
	header, parameter := &v1alpha1.HeaderName{Name: "X-Items"}, &v1alpha1.NamedKey{Name: "Page Size"}
	one := ruleset.RequestCost{Source: ruleset.CostValue, Value: 1}
	tests := map[string]struct {
		cost *v1alpha1.Cost
		want *ruleset.Cost
	}{
		"none":  {},
		"of 1":  {cost: &v1alpha1.Cost{Request: &v1alpha1.RequestCost{Value: new(int64(1))}}},
		"fixed": {cost: &v1alpha1.Cost{Request: &v1alpha1.RequestCost{Value: new(int64(0))}}, want: &ruleset.Cost{Request: ruleset.RequestCost{Source: ruleset.CostValue}}},
		// The smallest capacity is the burst of 20.
		"header": {
			cost: &v1alpha1.Cost{Request: &v1alpha1.RequestCost{Header: header}},
			want: &ruleset.Cost{Request: ruleset.RequestCost{Source: ruleset.CostHeader, Name: "x-items", Max: 20}},
		},
		"parameter with max": {
			cost: &v1alpha1.Cost{Request: &v1alpha1.RequestCost{QueryParam: parameter, Max: new(int64(500))}},
			want: &ruleset.Cost{Request: ruleset.RequestCost{Source: ruleset.CostQueryParam, Name: "Page Size", Max: 500}},
		},
		"of the answer": {
			cost: &v1alpha1.Cost{Response: &v1alpha1.ResponseCost{Header: "X-Cost"}},
			want: &ruleset.Cost{Request: one, Response: &ruleset.ResponseCost{Header: "x-cost", Max: 20}},
		},
		"by the answer": {
			cost: &v1alpha1.Cost{CountOn: &v1alpha1.CountOn{StatusCodes: []string{"401", "599"}}},
			want: &ruleset.Cost{Request: one, CountOn: []int{401, 599}},
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, rules := compileOne(t, nil, nil, newPolicy("web", func(p *v1alpha1.RateLimitPolicy) {
				p.Spec.Rules[0].Cost = tc.cost
				p.Spec.Rules[0].Limits = append(p.Spec.Rules[0].Limits, v1alpha1.Limit{Name: "second", Requests: 10, Window: "1s", Burst: new(int64(20))})
			}))
			if diff := cmp.Diff(tc.want, rules.Policies[0].Rules[0].Cost); diff != "" {
				t.Errorf("cost (-want +got):\n%s", diff)
			}
		})
	}
}
