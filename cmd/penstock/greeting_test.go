// Copyright The Penstock Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"testing"

	"github.com/penstock-dev/penstock/internal/ruleset"
)

// TestTheExampleMeetsTheRule shows a command that a person can paste to see it.
func TestTheExampleMeetsTheRule(t *testing.T) {
	t.Parallel()
	header := []ruleset.KeyPart{{Name: "client", From: []ruleset.KeySource{{Kind: ruleset.SourceHeader, Name: "x-api-key"}}}}
	login := []ruleset.Match{{Path: &ruleset.PathMatch{Type: ruleset.PathExact, Value: "/login"}, Methods: []string{"POST"}}}
	for want, rules := range map[string][]ruleset.Rule{
		"curl -i http://h/":                    {{}},
		"curl -i -X POST http://h/login":       {{Matches: login}},
		"curl -i -H 'X-Api-Key: me' http://h/": {{Key: header}, {Matches: login}},
		"curl -i http://h/a":                   {{Matches: []ruleset.Match{{Path: &ruleset.PathMatch{Value: "/a"}, Methods: []string{"PUT", "GET"}}}}},
	} {
		if got := example("http://h", &ruleset.RuleSet{Policies: []ruleset.Policy{{Rules: rules}}}); got != want {
			t.Errorf("got %s, want %s", got, want)
		}
	}
	if got := example("http://h", &ruleset.RuleSet{}); got != "curl -i http://h/" {
		t.Errorf("without rules: %s", got)
	}
}

func TestTheGreetingSaysWhatIsMatched(t *testing.T) {
	t.Parallel()
	for want, match := range map[string]ruleset.Match{
		", on POST /login and below": {Methods: []string{"POST"}, Path: &ruleset.PathMatch{Type: ruleset.PathPrefix, Value: "/login"}},
		", on /a at *.example.com":   {Path: &ruleset.PathMatch{Type: ruleset.PathExact, Value: "/a"}, Hosts: []string{"*.example.com"}},
		", on any path with header x-env = dev with parameter debug absent": {
			Headers:     []ruleset.ValueMatch{{Name: "x-env", Type: ruleset.ValueExact, Value: "dev"}},
			QueryParams: []ruleset.ValueMatch{{Name: "debug", Type: ruleset.ValueAbsent}},
		},
	} {
		if got := matchText([]ruleset.Match{match}); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}

// TestTheGreetingSaysWhatIsNoDefault has nothing said of what is.
func TestTheGreetingSaysWhatIsNoDefault(t *testing.T) {
	t.Parallel()
	value := func(value int64) ruleset.RequestCost {
		return ruleset.RequestCost{Source: ruleset.CostValue, Value: value}
	}
	tests := map[string]struct {
		rule ruleset.Rule
		want string
	}{
		"defaults":             {ruleset.Rule{}, ""},
		"cost of one":          {ruleset.Rule{Cost: &ruleset.Cost{Request: value(1)}}, ""},
		"cost":                 {ruleset.Rule{Cost: &ruleset.Cost{Request: value(5)}}, "; a request costs 5"},
		"cost of none":         {ruleset.Rule{Cost: &ruleset.Cost{Request: value(0)}}, "; a request costs 0"},
		"header":               {ruleset.Rule{Cost: &ruleset.Cost{Request: ruleset.RequestCost{Source: ruleset.CostHeader, Name: "x-cost", Max: 9}}}, "; a request costs what header X-Cost says (at most 9)"},
		"parameter":            {ruleset.Rule{Cost: &ruleset.Cost{Request: ruleset.RequestCost{Source: ruleset.CostQueryParam, Name: "items", Max: 9}}}, "; a request costs what parameter items says (at most 9)"},
		"expression":           {ruleset.Rule{Cost: &ruleset.Cost{Request: ruleset.RequestCost{Source: ruleset.CostExpression, Name: "int(request.query['n'])", Max: 9}}}, "; a request costs int(request.query['n']) (at most 9)"},
		"answer":               {ruleset.Rule{Cost: &ruleset.Cost{Request: value(0), Response: &ruleset.ResponseCost{Header: "x-cost", Max: 100}}}, "; a request costs 0 and then what the answer's header X-Cost says (at most 100)"},
		"default, then answer": {ruleset.Rule{Cost: &ruleset.Cost{Request: value(1), Response: &ruleset.ResponseCost{Header: "x-cost", Max: 100}}}, "; a request costs 1 and then what the answer's header X-Cost says (at most 100)"},
		"answers":              {ruleset.Rule{Cost: &ruleset.Cost{Request: value(1), CountOn: []int{401, 403}}}, "; counts only where the answer is 401, 403"},
		"shadow":               {ruleset.Rule{Shadow: true}, "; a shadow that refuses nothing"},
		"share":                {ruleset.Rule{EnforcePercent: new(25)}, "; refuses 25 % of what is over the limit (enforcePercent)"},
		"shadow's share":       {ruleset.Rule{Shadow: true, EnforcePercent: new(25)}, "; a shadow that refuses nothing"},
		"pod":                  {ruleset.Rule{PodScoped: true}, "; counted in the memory of each pod alone (scope Pod)"},
		"target": {
			ruleset.Rule{Tiers: []ruleset.Tier{{Limits: []ruleset.Limit{{TargetKeys: map[string]string{"Deployment/web": "k"}}}}}},
			"; counted for each target apart (scope Target), of which there is one here",
		},
	}
	for name, tc := range tests {
		if got := termsText(&tc.rule); got != tc.want {
			t.Errorf("%s: got %q, want %q", name, got, tc.want)
		}
	}
}
