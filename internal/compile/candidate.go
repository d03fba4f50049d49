// Copyright The Penstock Authors.
// SPDX-License-Identifier: Apache-2.0

package compile

import (
	"encoding/json"
	"slices"

	"github.com/penstock-dev/penstock/api/v1alpha1"
	"github.com/penstock-dev/penstock/internal/ruleset"
)

// maxProblems is how many problems status holds.
const maxProblems = 32

// candidate is one policy on its way into the rule set.
type candidate struct {
	policy *v1alpha1.RateLimitPolicy
	// form is the newest generation in compiled form; nil if it cannot be in force.
	form *ruleset.Policy
	// last is the form in force so far; nil if there is none.
	last *ruleset.Policy
	// disabled says that form is valid and, by its mode, has no rules.
	disabled bool
	defaults *v1alpha1.EffectiveDefaults
	problems []v1alpha1.Problem
}

func newCandidate(policy *v1alpha1.RateLimitPolicy, targets map[Target]Resolved, last *ruleset.Policy) *candidate {
	// Generations of one object only grow: a form of a later one is that of a
	// deleted object of the same name.
	if last != nil && last.Generation > policy.Generation {
		last = nil
	}
	c := &candidate{policy: policy, last: last}
	found := &findings{}
	found.add(unimplemented(KindRateLimitPolicy, policy)...)
	form, defaults := compilePolicy(policy, found)
	if len(found.problems) > 0 {
		c.problems = found.problems
		return c
	}
	c.defaults = defaults
	c.disabled = len(form.Rules) == 0
	byTarget := targetScoped(policy)
	selectors, missing := selectorsOf(policy, targets, len(byTarget) > 0)
	c.problems = slices.Concat(missing, found.warnings)
	if len(missing) > 0 && last != nil {
		if last.Generation != policy.Generation {
			// An edit that names a target that does not exist takes nothing out of force.
			return c
		}
		// A target that vanished may have left pods behind: they stay limited.
		selectors = append(selectors, last.Selectors...)
	}
	if len(selectors) == 0 {
		return c
	}
	form.Selectors = distinctSelectors(selectors)
	if len(byTarget) == 0 {
		// Else the first that selects a pod says which target's count is its own.
		slices.SortFunc(form.Selectors, bySelectorContent)
	}
	setLimitKeys(form, byTarget)
	form.Revision = policyRevision(form)
	c.form = form
	return c
}

// refuse takes the newest form out, so that the last one stays.
func (c *candidate) refuse(problem v1alpha1.Problem) {
	c.form, c.disabled, c.defaults = nil, false, nil
	c.problems = append(c.problems, problem)
}

// inForce is the newest form, or else the last one; nil if there is neither.
func (c *candidate) inForce() *ruleset.Policy {
	if c.form != nil {
		return c.form
	}
	return c.last
}

// enforced is the form in force if it has rules, else nil.
func (c *candidate) enforced() *ruleset.Policy {
	if form := c.inForce(); form != nil && len(form.Rules) > 0 {
		return form
	}
	return nil
}

func (c *candidate) result(store string) PolicyResult {
	result := PolicyResult{Reason: reasonOf(c.problems), Problems: c.problems}
	if len(result.Problems) > maxProblems {
		result.Problems = result.Problems[:maxProblems]
	}
	form := c.inForce()
	if form == nil {
		return result
	}
	result.ActiveGeneration = form.Generation
	result.Revision = form.Revision
	result.Selectors = form.Selectors
	result.Disabled = len(form.Rules) == 0
	result.Effective = &v1alpha1.Effective{
		Store:               store,
		Mode:                modeOf(form),
		Rules:               int32(len(form.Rules)),
		MaxLimitsPerRequest: int32(limitsPerRequest([]*ruleset.Policy{form})),
		Defaults:            c.defaults,
		Coarse:              coarseLimits(form),
	}
	return result
}

// modeOf is the mode of a form: one without rules is disabled, and one whose rules
// are all shadows is a shadow, wherever its modes are written.
func modeOf(form *ruleset.Policy) v1alpha1.Mode {
	if len(form.Rules) == 0 {
		return v1alpha1.ModeDisabled
	}
	if slices.ContainsFunc(form.Rules, func(rule ruleset.Rule) bool { return !rule.Shadow }) {
		return v1alpha1.ModeEnforce
	}
	return v1alpha1.ModeShadow
}

// policyRevision hashes a policy's content. The generation is not part of it: an
// edit that changes nothing in force keeps the revision.
func policyRevision(form *ruleset.Policy) string {
	content := *form
	content.Generation, content.Revision = 0, ""
	encoded, err := json.Marshal(content)
	if err != nil {
		// Plain structs of strings and integers always encode.
		panic("encode compiled policy: " + err.Error())
	}
	return ruleset.Revision(encoded)
}
