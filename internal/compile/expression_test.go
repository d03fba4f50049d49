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

func tiersPolicy(edit func(*v1alpha1.Rule)) *v1alpha1.RateLimitPolicy {
	policy := newPolicy("web")
	rule := &policy.Spec.Rules[0]
	rule.Tiers = []v1alpha1.Tier{
		{Name: "staff", When: "request.headers['x-plan'] == 'staff'", Unlimited: &v1alpha1.Unlimited{}},
		{Name: "pro", When: "request.headers['x-plan'] == 'pro'", Limits: []v1alpha1.Limit{
			{Name: "minute", Requests: 100, Window: "1m"}, {Name: "day", Requests: 1 << 31, Window: "9600h", Algorithm: v1alpha1.AlgorithmSlidingWindowCounter},
		}},
	}
	edit(rule)
	return policy
}

// TestTiers looks at what a rule with tiers compiles to.
func TestTiers(t *testing.T) {
	t.Parallel()
	policy := tiersPolicy(func(rule *v1alpha1.Rule) {
		rule.Cost = &v1alpha1.Cost{Request: &v1alpha1.RequestCost{Expression: "int(request.query['items'])"}}
	})
	out := Namespace(namespaceInput(policy))
	if problems := out.Policies[policy.Name].Problems; len(problems) > 0 {
		t.Fatalf("problems: %+v", problems)
	}
	form := &out.RuleSet.Policies[0]
	rule := &form.Rules[0]
	keys := make(map[string]string)
	for tier, limit := range rule.AllLimits() {
		if other, taken := keys[limit.Key]; taken || limit.Key == "" {
			t.Errorf("limit %s of tier %q has the key %q, as %s", limit.Name, tier, limit.Key, other)
		}
		keys[limit.Key] = tier + "/" + limit.Name
		if want := limitKey(form.Kind, form.Name, rule.Name, tier, "", limit); limit.Key != want {
			t.Errorf("limit %s of tier %q has the key %s, want %s", limit.Name, tier, limit.Key, want)
		}
	}
	if len(rule.Tiers) != 2 || rule.Tiers[0].Name != "staff" || len(rule.Tiers[0].Limits) != 0 || len(rule.Tiers[1].Limits) != 2 {
		t.Errorf("tiers: %+v", rule.Tiers)
	}
	want := ruleset.RequestCost{Source: ruleset.CostExpression, Name: "int(request.query['items'])", Max: 60}
	if diff := cmp.Diff(want, rule.Cost.Request); diff != "" {
		t.Errorf("cost (-want +got):\n%s", diff)
	}
	effective := out.Policies[policy.Name].Effective
	if effective.MaxLimitsPerRequest != 2 {
		t.Errorf("a request meets at most %d limits, want the 2 of the largest tier", effective.MaxLimitsPerRequest)
	}
	if len(effective.Coarse) != 1 || effective.Coarse[0].Limit != rule.Name+"/pro/day" {
		t.Errorf("coarse limits: %+v, want the tier's", effective.Coarse)
	}
}

func TestExpressionsAndTiersAreChecked(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		edit        func(*v1alpha1.RateLimitPolicy, *v1alpha1.Rule)
		field, says string
	}{
		"when":       {func(_ *v1alpha1.RateLimitPolicy, r *v1alpha1.Rule) { r.When = []string{"true", "request.method"} }, "spec.rules[0].when[1]", "yields string: write one that yields a bool"},
		"empty when": {func(_ *v1alpha1.RateLimitPolicy, r *v1alpha1.Rule) { r.When = []string{""} }, "spec.rules[0].when[0]", "is empty: write"},
		"many whens": {func(_ *v1alpha1.RateLimitPolicy, r *v1alpha1.Rule) {
			r.When = strings.Split("true,true,true,true,true,true,true,true,true", ",")
		}, "spec.rules[0].when", "has 9 entries"},
		"exempt": {func(p *v1alpha1.RateLimitPolicy, _ *v1alpha1.Rule) {
			p.Spec.Exempt = &v1alpha1.Exempt{When: []string{"request.methods == ''"}}
		}, "spec.exempt.when[0]", "after request there is .method"},
		"key": {func(_ *v1alpha1.RateLimitPolicy, r *v1alpha1.Rule) {
			r.Key = []v1alpha1.KeyPart{{Name: "k", From: []v1alpha1.KeySource{{Expression: "1"}}}}
		}, "spec.rules[0].key[0].from[0].expression", "yields int"},
		"cost": {func(_ *v1alpha1.RateLimitPolicy, r *v1alpha1.Rule) {
			r.Cost = &v1alpha1.Cost{Request: &v1alpha1.RequestCost{Expression: "request.path"}}
		}, "spec.rules[0].cost.request.expression", "yields string"},
		"tier's when":  {func(_ *v1alpha1.RateLimitPolicy, r *v1alpha1.Rule) { r.Tiers[1].When = "x" }, "spec.rules[0].tiers[1].when", "at character 1: undeclared reference to 'x'"},
		"tier's name":  {func(_ *v1alpha1.RateLimitPolicy, r *v1alpha1.Rule) { r.Tiers[1].Name = "staff" }, "spec.rules[0].tiers[1].name", "name of an entry before"},
		"both":         {func(_ *v1alpha1.RateLimitPolicy, r *v1alpha1.Rule) { r.Tiers[1].Unlimited = &v1alpha1.Unlimited{} }, "spec.rules[0].tiers[1].unlimited", "remove one of them"},
		"neither":      {func(_ *v1alpha1.RateLimitPolicy, r *v1alpha1.Rule) { r.Tiers[1].Limits = nil }, "spec.rules[0].tiers[1].limits", "has no limit"},
		"tier's limit": {func(_ *v1alpha1.RateLimitPolicy, r *v1alpha1.Rule) { r.Tiers[1].Limits[0].Requests = 0 }, "spec.rules[0].tiers[1].limits[0].requests", "is 0"},
		"many tiers":   {func(_ *v1alpha1.RateLimitPolicy, r *v1alpha1.Rule) { r.Tiers = make([]v1alpha1.Tier, 9) }, "spec.rules[0].tiers", "has 9 entries"},
		"cost of a tier": {func(_ *v1alpha1.RateLimitPolicy, r *v1alpha1.Rule) {
			r.Limits, r.Cost = nil, &v1alpha1.Cost{Request: &v1alpha1.RequestCost{Value: new(int64(101))}}
		}, "spec.rules[0].cost.request.value", `limit "pro/minute" never holds more than 100`},
		"a leased tier": {func(_ *v1alpha1.RateLimitPolicy, r *v1alpha1.Rule) {
			r.Precision, r.Tiers[1].Limits[0] = v1alpha1.PrecisionLeased, v1alpha1.Limit{Name: "l", Requests: 1, Algorithm: v1alpha1.AlgorithmConcurrency}
		}, "spec.rules[0].precision", "cannot be leased"},
		"a provider of none": {func(_ *v1alpha1.RateLimitPolicy, r *v1alpha1.Rule) {
			r.When = []string{"request.jwt['idp'].sub != ''"}
		}, "spec.rules[0].when[0]", `"idp" verified, and the policy has no provider`},
		"a misspelled provider": {func(p *v1alpha1.RateLimitPolicy, r *v1alpha1.Rule) {
			p.Spec.JWT = &v1alpha1.JWT{Providers: []v1alpha1.JWTProvider{{Name: "idp"}, {Name: "staff-idp"}}}
			r.Tiers[0].When = "request.jwt.typo.plan == 'pro'"
		}, "spec.rules[0].tiers[0].when", `"typo" verified; the policy has idp, staff-idp: name one of these`},
		"a misspelled provider of an exemption": {func(p *v1alpha1.RateLimitPolicy, _ *v1alpha1.Rule) {
			p.Spec.JWT = &v1alpha1.JWT{Providers: []v1alpha1.JWTProvider{{Name: "idp"}}}
			p.Spec.Exempt = &v1alpha1.Exempt{When: []string{"request.method == 'GET' && 'ipd' in request.jwt"}}
		}, "spec.exempt.when[0]", `"ipd" verified; the policy has idp:`},
		"no limit at all": {func(_ *v1alpha1.RateLimitPolicy, r *v1alpha1.Rule) { r.Limits, r.Tiers = nil, nil }, "spec.rules[0].limits", "has no limit"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			policy := tiersPolicy(func(*v1alpha1.Rule) {})
			tc.edit(policy, &policy.Spec.Rules[0])
			problems := Namespace(namespaceInput(policy)).Policies[policy.Name].Problems
			for _, problem := range problems {
				if problem.Field == tc.field && strings.Contains(problem.Message, tc.says) {
					return
				}
			}
			t.Errorf("problems %+v, want one of %s that says %q", problems, tc.field, tc.says)
		})
	}
}
