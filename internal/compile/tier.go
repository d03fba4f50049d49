// Copyright The Penstock Authors.
// SPDX-License-Identifier: Apache-2.0

package compile

import (
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/penstock-dev/penstock/api/v1alpha1"
	"github.com/penstock-dev/penstock/internal/match/expression"
	"github.com/penstock-dev/penstock/internal/ruleset"
)

const maxTiers = 8

func compileTiers(tiers []v1alpha1.Tier, at *field.Path, defaults *v1alpha1.EffectiveDefaults, found *findings) []ruleset.Tier {
	atMost(found, at, len(tiers), maxTiers)
	var compiled []ruleset.Tier
	tierNames := newNames(found)
	for i := range tiers {
		tier, at := &tiers[i], at.Index(i)
		tierNames.check(at.Child("name"), tier.Name)
		checkExpression(expression.Condition, tier.When, at.Child("when"), found)
		switch {
		case tier.Unlimited != nil && len(tier.Limits) > 0:
			found.invalid(at.Child("unlimited"), "cannot stand beside limits: remove one of them")
		case tier.Unlimited == nil && len(tier.Limits) == 0:
			found.invalid(at.Child("limits"), "has no limit: write at least one, or unlimited: {}")
		}
		compiled = append(compiled, ruleset.Tier{
			Name: tier.Name, When: tier.When, Limits: compileLimitList(tier.Limits, at.Child("limits"), defaults, found),
		})
	}
	return compiled
}

// everyLimit are the limits of a rule and of its tiers, to check what must fit all. Those
// of tiers are named as tier/limit.
func everyLimit(rule *ruleset.Rule) []ruleset.Limit {
	var all []ruleset.Limit
	for tier, limit := range rule.AllLimits() {
		named := *limit
		if tier != "" {
			named.Name = tier + "/" + limit.Name
		}
		all = append(all, named)
	}
	return all
}
