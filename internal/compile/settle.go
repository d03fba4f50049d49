// Copyright The Penstock Authors.
// SPDX-License-Identifier: Apache-2.0

package compile

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/penstock-dev/penstock/api/v1alpha1"
	"github.com/penstock-dev/penstock/internal/ruleset"
)

// settle decides which new forms come into force where not all fit together: a
// request may meet at most maxLimitsPerRequest limits, and no two limits may
// share a key. What does not fit is refused, and its last form stays.
//
// Forms that are in force already come first, then changed ones, the oldest policy
// first: a change never takes rules of another policy out of force.
func settle(candidates []*candidate) {
	all := make([]*ruleset.Policy, 0, len(candidates))
	for _, c := range candidates {
		if form := c.inForce(); form != nil {
			all = append(all, form)
		}
	}
	if misfit(all) == "" {
		return
	}
	standing := make(map[string]*ruleset.Policy, len(candidates))
	for _, c := range candidates {
		if c.last != nil {
			standing[c.policy.Name] = c.last
		}
	}
	for _, c := range byPrecedence(candidates) {
		if c.form == nil {
			continue
		}
		standing[c.policy.Name] = c.form
		message := misfit(neighbours(c.form, standing))
		if message == "" {
			continue
		}
		c.refuse(v1alpha1.Problem{Field: spec.Child("rules").String(), Reason: v1alpha1.ReasonInvalid, Message: message})
		delete(standing, c.policy.Name)
		if c.last != nil {
			standing[c.policy.Name] = c.last
		}
	}
}

func byPrecedence(candidates []*candidate) []*candidate {
	changed := func(c *candidate) int {
		if c.last != nil && c.last.Generation == c.policy.Generation {
			return 0
		}
		return 1
	}
	return slices.SortedFunc(slices.Values(candidates), func(a, b *candidate) int {
		return cmp.Or(
			cmp.Compare(changed(a), changed(b)),
			a.policy.CreationTimestamp.Compare(b.policy.CreationTimestamp.Time),
			cmp.Compare(a.policy.Name, b.policy.Name),
		)
	})
}

// neighbours are the form and all forms with which it can share a pod or a key.
func neighbours(form *ruleset.Policy, standing map[string]*ruleset.Policy) []*ruleset.Policy {
	keys := make(map[string]bool)
	for limit := range limitsOf(form) {
		keys[limit.Key] = true
	}
	var near []*ruleset.Policy
	for _, other := range standing {
		if mayShareAPod(form.Selectors, other.Selectors) || sharesKey(other, keys) {
			near = append(near, other)
		}
	}
	slices.SortFunc(near, func(a, b *ruleset.Policy) int { return cmp.Compare(a.Name, b.Name) })
	return near
}

func sharesKey(form *ruleset.Policy, keys map[string]bool) bool {
	for limit := range limitsOf(form) {
		if keys[limit.Key] {
			return true
		}
	}
	return false
}

// misfit says why the forms cannot be in force together; empty if they can.
func misfit(forms []*ruleset.Policy) string {
	if sum := limitsPerRequest(forms); sum > maxLimitsPerRequest {
		return fmt.Sprintf("a request could meet %d limits of the policies of its pod, at most %d are allowed: remove limits, or make matches disjoint by method or path",
			sum, maxLimitsPerRequest)
	}
	seen := make(map[string]string)
	for _, form := range forms {
		for i := range form.Rules {
			for _, limit := range form.Rules[i].Limits {
				name := form.Name + "/" + form.Rules[i].Name + "/" + limit.Name
				if other, taken := seen[limit.Key]; taken {
					first, second := min(name, other), max(name, other)
					return fmt.Sprintf("the limits %s and %s would be counted under the same key by chance: rename one of them", first, second)
				}
				seen[limit.Key] = name
			}
		}
	}
	return ""
}
