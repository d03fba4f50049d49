// Copyright The Penstock Authors.
// SPDX-License-Identifier: Apache-2.0

package compile

import (
	"slices"

	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/penstock-dev/penstock/api/v1alpha1"
	"github.com/penstock-dev/penstock/internal/ruleset"
)

// compileRules compiles the rules that are not disabled, and checks them all. The
// weaker of the policy's mode and a rule's is in force.
func compileRules(rules []v1alpha1.Rule, mode v1alpha1.Mode, matching ruleset.PathMatching, defaults *v1alpha1.EffectiveDefaults, found *findings) []ruleset.Rule {
	at := spec.Child("rules")
	if len(rules) == 0 {
		found.invalid(at, "has no rule: write at least one, or delete the policy")
	}
	atMost(found, at, len(rules), maxRules)
	var compiled []ruleset.Rule
	ruleNames := newNames(found)
	for i := range rules {
		rule := &rules[i]
		ruleNames.check(at.Index(i).Child("name"), rule.Name)
		form := compileRule(rule, matching, at.Index(i), defaults, found)
		if mode == v1alpha1.ModeDisabled || rule.Mode == v1alpha1.ModeDisabled {
			continue
		}
		form.Shadow = form.Shadow || mode == v1alpha1.ModeShadow || rule.Mode == v1alpha1.ModeShadow
		compiled = append(compiled, form)
	}
	return compiled
}

func compileRule(rule *v1alpha1.Rule, matching ruleset.PathMatching, at *field.Path, defaults *v1alpha1.EffectiveDefaults, found *findings) ruleset.Rule {
	oneOf(found, at.Child("mode"), string(rule.Mode), "", "Enforce", "Shadow", "Disabled")
	oneOf(found, at.Child("scope"), string(rule.Scope), "", "Policy", "Target", "Pod")
	oneOf(found, at.Child("precision"), string(rule.Precision), "", "Exact", "Leased")
	oneOf(found, at.Child("onStoreFailure"), string(rule.OnStoreFailure), "", "Local", "Allow", "Deny")
	form := ruleset.Rule{
		Name:           rule.Name,
		Key:            compileKey(rule, at.Child("key"), found),
		Leased:         rule.Precision == v1alpha1.PrecisionLeased,
		OnStoreFailure: ruleset.OnStoreFailure(rule.OnStoreFailure),
		LoosenessMilli: compileLocal(rule, at.Child("local"), found),
		PodScoped:      rule.Scope == v1alpha1.ScopePod,
		Refusal:        compileRefusal(rule.Response, at.Child("response"), found),
	}
	compileEnforcePercent(&form, rule.EnforcePercent, at.Child("enforcePercent"), found)
	checkScope(rule, at, found)
	if rule.OnStoreFailure == "" {
		form.OnStoreFailure = ruleset.FailLocal
		if !form.PodScoped {
			defaults.OnStoreFailure = v1alpha1.OnStoreFailureLocal
		}
	}
	matches := at.Child("matches")
	atMost(found, matches, len(rule.Matches), maxMatches)
	for i := range rule.Matches {
		form.Matches = append(form.Matches, compileMatch(&rule.Matches[i], matching, matches.Index(i), found))
	}
	form.When = compileWhen(rule.When, maxWhen, at.Child("when"), found)
	form.Limits = compileLimits(rule, at.Child("limits"), defaults, found)
	form.Tiers = compileTiers(rule.Tiers, at.Child("tiers"), defaults, found)
	limits := everyLimit(&form)
	form.Cost = compileCost(rule.Cost, limits, at.Child("cost"), found)
	if form.Leased {
		checkLeased(rule, limits, at.Child("precision"), found)
	}
	return form
}

// checkLeased wants a rule whose charges are final and wear off by themselves.
func checkLeased(rule *v1alpha1.Rule, limits []ruleset.Limit, at *field.Path, found *findings) {
	if limit, ok := shaping(limits); ok {
		found.invalid(at, "is Leased, but limit %q cannot be leased (%s): write Exact, or choose another algorithm for all limits of the rule", limit.Name, limit.Algorithm)
	}
	if rule.Cost != nil && (rule.Cost.CountOn != nil || rule.Cost.Response != nil) {
		found.invalid(at, "is Leased, but what was leased cannot be corrected: write Exact, or remove %s", correctionsOf(rule.Cost))
	}
}

// correctionsOf names the fields of a cost that correct it once the answer is known.
func correctionsOf(cost *v1alpha1.Cost) string {
	switch {
	case cost.Response == nil:
		return "cost.countOn"
	case cost.CountOn == nil:
		return "cost.response"
	default:
		return "cost.countOn and cost.response"
	}
}

// shaping is the first limit of an algorithm by which a request waits or holds a place,
// so that its charge is no mere number.
func shaping(limits []ruleset.Limit) (ruleset.Limit, bool) {
	i := slices.IndexFunc(limits, func(limit ruleset.Limit) bool {
		return limit.Algorithm == ruleset.LeakyBucket || limit.Algorithm == ruleset.Concurrency
	})
	if i < 0 {
		return ruleset.Limit{}, false
	}
	return limits[i], true
}

func compileLocal(rule *v1alpha1.Rule, at *field.Path, found *findings) int64 {
	if rule.Local == nil {
		return defaultLoosenessMilli
	}
	if rule.OnStoreFailure == v1alpha1.OnStoreFailureAllow || rule.OnStoreFailure == v1alpha1.OnStoreFailureDeny {
		found.invalid(at, "has no effect with onStoreFailure %s: remove it, or write Local", rule.OnStoreFailure)
	}
	if rule.Local.Looseness == "" {
		return defaultLoosenessMilli
	}
	milli, err := parseLooseness(rule.Local.Looseness)
	if err != nil {
		found.invalid(at.Child("looseness"), "%q %v", rule.Local.Looseness, err)
	}
	return milli
}
