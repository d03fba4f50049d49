// Copyright The Penstock Authors.
// SPDX-License-Identifier: Apache-2.0

package compile

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/penstock-dev/penstock/api/v1alpha1"
	"github.com/penstock-dev/penstock/internal/ruleset"
)

func TestMatchesAreCompiled(t *testing.T) {
	t.Parallel()
	policy := newPolicy("web", func(p *v1alpha1.RateLimitPolicy) {
		p.Spec.Evaluation = v1alpha1.EvaluationFirstMatch
		p.Spec.Rules[0].Matches = []v1alpha1.Match{{
			Path: &v1alpha1.PathMatch{Type: v1alpha1.PathMatchTemplate, Value: "/Users/{userID}/"}, Hosts: []string{"*.example.com"},
			Headers:     []v1alpha1.HeaderMatch{{Name: "X-Env", Value: "prod"}, {Name: "X-B", Type: v1alpha1.ValueMatchAbsent}},
			QueryParams: []v1alpha1.QueryParamMatch{{Name: "Debug", Type: v1alpha1.ValueMatchRegularExpression, Value: "[0-9]+"}},
		}, {
			Path: &v1alpha1.PathMatch{Type: v1alpha1.PathMatchRegularExpression, Value: "/Files/.*"},
		}}
	})
	result, rules := compileOne(t, nil, nil, policy)
	if result.Reason != v1alpha1.ReasonAccepted {
		t.Fatalf("%s: %v", result.Reason, result.Problems)
	}
	want := []ruleset.Match{{
		Path: &ruleset.PathMatch{Type: ruleset.PathTemplate, Value: "/users/{userID}"}, Hosts: []string{"*.example.com"},
		Headers:     []ruleset.ValueMatch{{Name: "x-env", Type: ruleset.ValueExact, Value: "prod"}, {Name: "x-b", Type: ruleset.ValueAbsent}},
		QueryParams: []ruleset.ValueMatch{{Name: "Debug", Type: ruleset.ValueRegularExpression, Value: "[0-9]+"}},
	}, {
		Path: &ruleset.PathMatch{Type: ruleset.PathRegularExpression, Value: "/Files/.*"},
	}}
	if diff := cmp.Diff(want, rules.Policies[0].Rules[0].Matches); diff != "" {
		t.Errorf("matches (-want +got):\n%s", diff)
	}
	if !rules.Policies[0].FirstMatch {
		t.Error("FirstMatch was not compiled")
	}
}

func TestWhatAMatchCannotSay(t *testing.T) {
	t.Parallel()
	path := func(kind v1alpha1.PathMatchType, value string) v1alpha1.Match {
		return v1alpha1.Match{Path: &v1alpha1.PathMatch{Type: kind, Value: value}}
	}
	header := func(header v1alpha1.HeaderMatch) v1alpha1.Match {
		return v1alpha1.Match{Headers: []v1alpha1.HeaderMatch{header}}
	}
	query := func(param v1alpha1.QueryParamMatch) v1alpha1.Match {
		return v1alpha1.Match{QueryParams: []v1alpha1.QueryParamMatch{param}}
	}
	const template, expression = v1alpha1.PathMatchTemplate, v1alpha1.PathMatchRegularExpression
	tests := map[string]struct {
		match       v1alpha1.Match
		wantField   string
		wantMessage string
	}{
		"nothing":                     {v1alpha1.Match{}, "", "would match every request"},
		"empty path":                  {path("", ""), ".path.value", "write a path from the root"},
		"long path":                   {path("", "/"+strings.Repeat("a", 512)), ".path.value", "shorten it"},
		"parameter twice":             {path(template, "/{id}/{id}"), ".path.value", "give one of them another name"},
		"half a parameter":            {path(template, "/a{id}"), ".path.value", "write one such as {id}, or type: RegularExpression"},
		"template not canonical":      {path(template, "/a/../{id}"), ".path.value", `write "/{id}"`},
		"template without slash":      {path(template, "{id}"), ".path.value", `write "/{id}"`},
		"URL":                         {path("", "https://Shop.example.com:8443/a?b"), ".path.value", "write /a; a match of a rule names the host in hosts: [shop.example.com]"},
		"URL without a path":          {path("", "HTTP://a.test"), ".path.value", "write /; a match"},
		"URL of a template":           {path(template, "https://{shop}.test/{id}"), ".path.value", "write /{id}; a match of a rule names hosts in hosts"},
		"URL of an expression":        {path(expression, `^https://a\.test/.*`), ".path.value", "write /.*; a match of a rule names the host in hosts: [a.test]"},
		"expression":                  {path(expression, "/a["), ".path.value", "missing closing ] at character 3"},
		"expression without slash":    {path(expression, "a.*"), ".path.value", `write "/a.*"`},
		"host in capitals":            {v1alpha1.Match{Hosts: []string{"a.test", "Shop.test"}}, ".hosts[1]", "in lower case without a port"},
		"host with port":              {v1alpha1.Match{Hosts: []string{"shop.test:80"}}, ".hosts[0]", "without a port"},
		"host with a star inside":     {v1alpha1.Match{Hosts: []string{"a.*.test"}}, ".hosts[0]", "*.example.com"},
		"too many hosts":              {v1alpha1.Match{Hosts: strings.Fields(strings.Repeat("a.test ", 17))}, ".hosts", "at most 16"},
		"too many headers":            {v1alpha1.Match{Headers: make([]v1alpha1.HeaderMatch, 9)}, ".headers", "at most 8"},
		"too many parameters":         {v1alpha1.Match{QueryParams: make([]v1alpha1.QueryParamMatch, 9)}, ".queryParams", "at most 8"},
		"name of a header":            {header(v1alpha1.HeaderMatch{Name: "X Env", Value: "a"}), ".headers[0].name", "is not the name of a header"},
		"type of a header":            {header(v1alpha1.HeaderMatch{Name: "X-Env", Type: "Like", Value: "a"}), ".headers[0].type", "Exact, RegularExpression, Present, Absent"},
		"no value":                    {header(v1alpha1.HeaderMatch{Name: "X-Env"}), ".headers[0].value", "type: Present"},
		"value of Present":            {header(v1alpha1.HeaderMatch{Name: "X-Env", Type: "Present", Value: "a"}), ".headers[0].value", "remove it"},
		"long value":                  {header(v1alpha1.HeaderMatch{Name: "X-Env", Value: strings.Repeat("a", 257)}), ".headers[0].value", "at most 256"},
		"expression of a header":      {header(v1alpha1.HeaderMatch{Name: "X-Env", Type: "RegularExpression", Value: "a**"}), ".headers[0].value", "at character 2"},
		"host that cannot be":         {header(v1alpha1.HeaderMatch{Name: "Host", Value: "Shop.test:80"}), ".headers[0].value", "without a port"},
		"name of a parameter":         {query(v1alpha1.QueryParamMatch{Name: "a b", Value: "a"}), ".queryParams[0].name", "without white space"},
		"value of an absent one":      {query(v1alpha1.QueryParamMatch{Name: "a", Type: "Absent", Value: "a"}), ".queryParams[0].value", "remove it"},
		"expression of a parameter":   {query(v1alpha1.QueryParamMatch{Name: "a", Type: "RegularExpression", Value: "(?<=a)"}), ".queryParams[0].value", "RE2 syntax"},
		"type of a parameter":         {query(v1alpha1.QueryParamMatch{Name: "a", Type: "Like", Value: "a"}), ".queryParams[0].type", "write one of"},
		"no value of a parameter":     {query(v1alpha1.QueryParamMatch{Name: "a"}), ".queryParams[0].value", "is empty"},
		"long value of a parameter":   {query(v1alpha1.QueryParamMatch{Name: "a", Value: strings.Repeat("a", 257)}), ".queryParams[0].value", "type: RegularExpression"},
		"expression of too much work": {query(v1alpha1.QueryParamMatch{Name: "a", Type: "RegularExpression", Value: "a{999}b{999}"}), ".queryParams[0].value", "lower its {counts}"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			result, _ := compileOne(t, nil, nil, newPolicy("web", func(p *v1alpha1.RateLimitPolicy) {
				p.Spec.Rules[0].Matches = []v1alpha1.Match{tc.match}
			}))
			for _, problem := range result.Problems {
				if problem.Field == "spec.rules[0].matches[0]"+tc.wantField && strings.Contains(problem.Message, tc.wantMessage) {
					return
				}
			}
			t.Errorf("problems %+v, want one of %s with %q", result.Problems, tc.wantField, tc.wantMessage)
		})
	}
}
