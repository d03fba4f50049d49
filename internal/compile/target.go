// Copyright The Penstock Authors.
// SPDX-License-Identifier: Apache-2.0

package compile

import (
	"cmp"
	"fmt"
	"maps"
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/penstock-dev/penstock/api/v1alpha1"
	"github.com/penstock-dev/penstock/internal/ruleset"
)

// Target is a workload or Service of the namespace that a policy names.
type Target struct {
	Group, Kind, Name string
	// SectionName is the name of a Service's port; empty means all ports.
	SectionName string
}

// Targets are the targets that the policies name, each once and in order. The
// caller resolves them for Input.Targets.
func Targets(policies []*v1alpha1.RateLimitPolicy) []Target {
	targets := make(map[Target]bool)
	for _, policy := range policies {
		if policy.DeletionTimestamp != nil {
			continue
		}
		for i := range policy.Spec.TargetRefs {
			targets[targetOf(&policy.Spec.TargetRefs[i])] = true
		}
	}
	return slices.SortedFunc(maps.Keys(targets), func(a, b Target) int {
		return cmp.Or(
			cmp.Compare(a.Group, b.Group), cmp.Compare(a.Kind, b.Kind),
			cmp.Compare(a.Name, b.Name), cmp.Compare(a.SectionName, b.SectionName),
		)
	})
}

func targetOf(ref *v1alpha1.TargetReference) Target {
	return Target{Group: ref.Group, Kind: string(ref.Kind), Name: ref.Name, SectionName: ref.SectionName}
}

// selectorsOf are the selectors of a valid policy, and a problem for each target
// that does not exist.
func selectorsOf(policy *v1alpha1.RateLimitPolicy, targets map[Target]ruleset.Selector) ([]ruleset.Selector, []v1alpha1.Problem) {
	if policy.Spec.Selector != nil {
		return []ruleset.Selector{Selector(policy.Spec.Selector)}, nil
	}
	var selectors []ruleset.Selector
	var missing []v1alpha1.Problem
	for i := range policy.Spec.TargetRefs {
		ref := &policy.Spec.TargetRefs[i]
		selector, found := targets[targetOf(ref)]
		// A Service without a selector selects no pod, while an empty selector
		// would select every pod of the namespace.
		selectsNothing := len(selector.MatchLabels) == 0 && len(selector.MatchExpressions) == 0
		if found && !selectsNothing {
			selectors = append(selectors, selector)
			continue
		}
		message := fmt.Sprintf("%s %q does not exist in namespace %q: create it, or name one that does", ref.Kind, ref.Name, policy.Namespace)
		if found {
			message = fmt.Sprintf("%s %q has no selector and so no pods: use spec.selector to select pods by their labels", ref.Kind, ref.Name)
		}
		missing = append(missing, v1alpha1.Problem{
			Field:   field.NewPath("spec", "targetRefs").Index(i).Child("name").String(),
			Reason:  v1alpha1.ReasonTargetNotFound,
			Message: message,
		})
	}
	return selectors, missing
}

// Selector is a label selector in compiled form. The caller has validated it.
func Selector(selector *metav1.LabelSelector) ruleset.Selector {
	compiled := ruleset.Selector{MatchLabels: selector.MatchLabels}
	for _, requirement := range selector.MatchExpressions {
		compiled.MatchExpressions = append(compiled.MatchExpressions, ruleset.Requirement{
			Key: requirement.Key, Operator: string(requirement.Operator), Values: requirement.Values,
		})
	}
	return compiled
}
