// Copyright The Penstock Authors.
// SPDX-License-Identifier: Apache-2.0

package compile

import (
	"fmt"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/penstock-dev/penstock/api/v1alpha1"
	"github.com/penstock-dev/penstock/internal/ruleset"
)

// limits gives the policy rules of one limit each.
func limits(count int) func(*v1alpha1.RateLimitPolicy) {
	return func(p *v1alpha1.RateLimitPolicy) {
		p.Spec.Rules = nil
		for i := range count {
			p.Spec.Rules = append(p.Spec.Rules, v1alpha1.Rule{
				Name: fmt.Sprintf("rule-%d", i), Limits: []v1alpha1.Limit{{Name: "second", Requests: 1, Window: "1s"}},
			})
		}
	}
}

func app(name string) func(*v1alpha1.RateLimitPolicy) {
	return func(p *v1alpha1.RateLimitPolicy) {
		p.Spec.Selector = &metav1.LabelSelector{MatchLabels: map[string]string{"app": name}}
	}
}

// methods gives each rule a method of its own, in turn.
func methods(names ...string) func(*v1alpha1.RateLimitPolicy) {
	return func(p *v1alpha1.RateLimitPolicy) {
		for i := range p.Spec.Rules {
			p.Spec.Rules[i].Matches = []v1alpha1.Match{{Methods: []string{names[i%len(names)]}}}
		}
	}
}

// paths gives each rule a path of its own.
func paths(form string, kind v1alpha1.PathMatchType) func(*v1alpha1.RateLimitPolicy) {
	return func(p *v1alpha1.RateLimitPolicy) {
		for i := range p.Spec.Rules {
			p.Spec.Rules[i].Matches = []v1alpha1.Match{{Path: &v1alpha1.PathMatch{Type: kind, Value: fmt.Sprintf(form, i)}}}
		}
	}
}

func TestNewestPolicyOverTheBudgetIsInvalid(t *testing.T) {
	t.Parallel()
	type policies = []*v1alpha1.RateLimitPolicy
	_, oldForm := compileOne(t, nil, nil, newPolicy("b", limits(8)))
	tests := map[string]struct {
		previous    *ruleset.RuleSet
		policies    policies
		wantInvalid []string
		wantSum     string
	}{
		"32 limits fit":              {policies: policies{newPolicy("a", limits(32))}},
		"33 limits do not":           {policies: policies{newPolicy("a", limits(33))}, wantInvalid: []string{"a"}, wantSum: "33 limits"},
		"the newest is invalid":      {policies: policies{newPolicy("a", limits(20), createdAfter(1)), newPolicy("b", limits(20))}, wantInvalid: []string{"a"}, wantSum: "40 limits"},
		"of an age, the later name":  {policies: policies{newPolicy("a", limits(20)), newPolicy("b", limits(20))}, wantInvalid: []string{"b"}, wantSum: "40 limits"},
		"a smaller one still fits":   {policies: policies{newPolicy("a", limits(20)), newPolicy("b", limits(20), createdAfter(1)), newPolicy("c", limits(12), createdAfter(2))}, wantInvalid: []string{"b"}, wantSum: "40 limits"},
		"apps apart":                 {policies: policies{newPolicy("a", limits(20)), newPolicy("b", limits(20), app("api"))}},
		"one for all pods":           {policies: policies{newPolicy("a", limits(20)), newPolicy("b", limits(20), app("api")), newPolicy("c", limits(13), createdAfter(1), func(p *v1alpha1.RateLimitPolicy) { p.Spec.Selector = &metav1.LabelSelector{} })}, wantInvalid: []string{"c"}, wantSum: "33 limits"},
		"one for all pods that fits": {policies: policies{newPolicy("a", limits(20)), newPolicy("b", limits(20), app("api")), newPolicy("c", limits(12), func(p *v1alpha1.RateLimitPolicy) { p.Spec.Selector = &metav1.LabelSelector{} })}},
		"methods apart":              {policies: policies{newPolicy("a", limits(60), methods("GET", "POST"))}},
		"methods apart, but too many": {
			policies: policies{newPolicy("a", limits(64), methods("GET"))}, wantInvalid: []string{"a"}, wantSum: "64 limits",
		},
		"paths apart":        {policies: policies{newPolicy("a", limits(64), paths("/item/%d", v1alpha1.PathMatchExact))}},
		"prefixes apart":     {policies: policies{newPolicy("a", limits(64), paths("/item-%d", ""))}},
		"a change is newest": {previous: oldForm, policies: policies{newPolicy("a", limits(25)), newPolicy("b", limits(8), createdAfter(1))}, wantInvalid: []string{"a"}, wantSum: "33 limits"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			in := namespaceInput(tc.policies...)
			in.Previous = tc.previous
			out := Namespace(in)
			want := make(map[string]bool)
			for _, name := range tc.wantInvalid {
				want[name] = true
			}
			for name, result := range out.Policies {
				if want[name] != (result.Reason == v1alpha1.ReasonInvalid) {
					t.Errorf("policy %s has reason %s: %+v", name, result.Reason, result.Problems)
				}
				if want[name] && (result.Problems[0].Field != "spec.rules" || !strings.Contains(result.Problems[0].Message, tc.wantSum)) {
					t.Errorf("problem %+v, want spec.rules with %q", result.Problems[0], tc.wantSum)
				}
			}
		})
	}
}

func TestEditOverTheBudgetKeepsTheLastForm(t *testing.T) {
	t.Parallel()
	in := namespaceInput(newPolicy("a", limits(16)), newPolicy("b", limits(16), createdAfter(1)))
	in.Previous = Namespace(in).RuleSet
	in.Policies[0] = newPolicy("a", generation(2), limits(17))
	out := Namespace(in)
	if got := out.Policies["a"]; got.Reason != v1alpha1.ReasonInvalid || got.ActiveGeneration != 1 {
		t.Errorf("the edited policy: %+v, want it invalid with generation 1 in force", got)
	}
	if got := out.Policies["b"]; got.Reason != v1alpha1.ReasonAccepted {
		t.Errorf("the policy that nobody touched: %+v, want it accepted", got)
	}
}

func TestCollidingKeysAreRefused(t *testing.T) {
	t.Parallel()
	form := func(name string) *ruleset.Policy {
		return &ruleset.Policy{Kind: KindRateLimitPolicy, Name: name, Selectors: []ruleset.Selector{appSelector(name)},
			Rules: []ruleset.Rule{{Name: "all", Limits: []ruleset.Limit{{Name: "minute", Key: "AAAAAAAA"}}}}}
	}
	candidates := []*candidate{
		{policy: newPolicy("a", createdAfter(1)), form: form("a")},
		{policy: newPolicy("b"), form: form("b")},
	}
	settle(candidates)
	if candidates[0].form != nil || !strings.Contains(candidates[0].problems[0].Message, "a/all/minute and b/all/minute") {
		t.Errorf("the newer policy stays: %+v", candidates[0])
	}
	if candidates[1].form == nil {
		t.Errorf("the older policy is out: %+v", candidates[1].problems)
	}
}
