// Copyright The Penstock Authors.
// SPDX-License-Identifier: Apache-2.0

package compile

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

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
	before := newStanding()
	for _, c := range candidates {
		if c.isUnchanged() {
			before.put(c.policy.Name, c.form)
		} else {
			before.put(c.policy.Name, c.last)
		}
	}
	// What nobody changed was in force together. If it is so no more, because
	// targets select other pods than before, all forms are looked at one by one.
	skip := misfit(before.forms()) == ""
	if !skip {
		before = newStanding()
		for _, c := range candidates {
			if c.form == nil {
				before.put(c.policy.Name, c.last)
			}
		}
	}
	for _, c := range byPrecedence(candidates) {
		if c.form == nil || skip && c.isUnchanged() {
			continue
		}
		message := misfit(before.neighbours(c.form))
		if message == "" {
			before.put(c.policy.Name, c.form)
			continue
		}
		before.put(c.policy.Name, c.last)
		c.refuse(v1alpha1.Problem{Field: spec.Child("rules").String(), Reason: v1alpha1.ReasonInvalid, Message: message})
	}
}

// isUnchanged says that the newest generation is in force already.
func (c *candidate) isUnchanged() bool {
	return c.form != nil && c.last != nil && c.last.Generation == c.policy.Generation
}

func byPrecedence(candidates []*candidate) []*candidate {
	changed := func(c *candidate) int {
		if c.isUnchanged() {
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

// misfit says why the forms cannot be in force together; empty if they can.
func misfit(forms []*ruleset.Policy) string {
	if sum := limitsPerRequest(forms); sum > maxLimitsPerRequest {
		return fmt.Sprintf("a request could meet %d limits of the policies of its pod, at most %d are allowed: remove limits, or make matches disjoint by host, method or path",
			sum, maxLimitsPerRequest)
	}
	seen := make(map[string]string)
	for _, form := range forms {
		for i := range form.Rules {
			for _, limit := range everyLimit(&form.Rules[i]) {
				for target, key := range keysOf(&limit) {
					name := strings.TrimSuffix(form.Name+"/"+form.Rules[i].Name+"/"+limit.Name+" of "+target, " of ")
					if other, taken := seen[key]; taken {
						first, second := min(name, other), max(name, other)
						return fmt.Sprintf("the limits %s and %s would be counted under the same key by chance: rename one of them", first, second)
					}
					seen[key] = name
				}
			}
		}
	}
	return ""
}
