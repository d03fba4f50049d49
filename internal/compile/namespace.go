// Copyright The Penstock Authors.
// SPDX-License-Identifier: Apache-2.0

package compile

import (
	"cmp"
	"slices"

	"github.com/penstock-dev/penstock/api/v1alpha1"
	"github.com/penstock-dev/penstock/internal/ruleset"
)

// KindRateLimitPolicy is the kind of the policies of a namespace in compiled form.
const KindRateLimitPolicy = "RateLimitPolicy"

// Input is everything that the rule set of a namespace depends on.
type Input struct {
	// Namespace is its name.
	Namespace string
	// IdentityKey keys the hash of identities, see ruleset.RuleSet.
	IdentityKey []byte
	// Store is the name of the namespace's store, for status.effective.
	Store string
	// Policies are all of the namespace, in any order.
	Policies []*v1alpha1.RateLimitPolicy
	// Targets are what targetRefs resolve to. A target that is missing here does not
	// exist.
	Targets map[Target]Resolved
	// Previous is the rule set that is published now; nil if there is none. The
	// last valid form of a policy whose newest generation is invalid is taken
	// from it.
	Previous *ruleset.RuleSet
}

// Output is a namespace's rule set and what became of each policy.
type Output struct {
	// RuleSet is complete, and empty if nothing is in force.
	RuleSet *ruleset.RuleSet
	// Policies has a result, by name, for each policy that is not being deleted.
	Policies map[string]PolicyResult
}

// PolicyResult is what became of one policy.
type PolicyResult struct {
	// Reason is that of the condition Accepted: v1alpha1.ReasonAccepted,
	// ReasonInvalid, ReasonNotImplemented or ReasonTargetNotFound.
	Reason string
	// Problems are what is wrong with the newest generation, at most 32. Some are
	// warnings, see IsWarning.
	Problems []v1alpha1.Problem
	// ActiveGeneration is the generation whose form is in force; 0 if none is.
	// A disabled policy that is valid is in force, without rules.
	ActiveGeneration int64
	// Revision is the hash of the form in force; empty if none is.
	Revision string
	// Selectors are those of the form in force.
	Selectors []ruleset.Selector
	// Disabled says that the form in force has no rules, by its mode.
	Disabled bool
	// Effective is the form in force in numbers, with the defaults that were taken.
	Effective *v1alpha1.Effective
}

// Namespace compiles all policies of a namespace together. Equal input gives equal
// output, whatever the order of the policies.
func Namespace(in Input) Output {
	candidates := newCandidates(in)
	settle(candidates)
	out := Output{
		RuleSet: &ruleset.RuleSet{
			Format:      ruleset.Format,
			Namespace:   in.Namespace,
			IdentityKey: in.IdentityKey,
			Policies:    []ruleset.Policy{},
		},
		Policies: make(map[string]PolicyResult, len(candidates)),
	}
	for _, c := range candidates {
		if form := c.enforced(); form != nil {
			out.RuleSet.Policies = append(out.RuleSet.Policies, *form)
		}
		out.Policies[c.policy.Name] = c.result(in.Store)
	}
	return out
}

// newCandidates compiles each policy for itself. They are ordered by name.
func newCandidates(in Input) []*candidate {
	last := make(map[string]*ruleset.Policy)
	if in.Previous != nil {
		for i := range in.Previous.Policies {
			if p := &in.Previous.Policies[i]; p.Kind == KindRateLimitPolicy {
				last[p.Name] = p
			}
		}
	}
	candidates := make([]*candidate, 0, len(in.Policies))
	for _, policy := range in.Policies {
		if policy.DeletionTimestamp == nil {
			candidates = append(candidates, newCandidate(policy, in.Targets, last[policy.Name]))
		}
	}
	slices.SortFunc(candidates, func(a, b *candidate) int { return cmp.Compare(a.policy.Name, b.policy.Name) })
	return candidates
}
