// Copyright The Penstock Authors.
// SPDX-License-Identifier: Apache-2.0

package compile

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

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

// Resolved is what a target that exists stands for.
type Resolved struct {
	// Selector selects its pods; an empty one, none.
	Selector ruleset.Selector
	// Ports are the numbers, in the apps, of the port that the target's SectionName
	// means: several where pods differ. It is nil without a SectionName, and holds
	// NoPort where no pod tells yet.
	Ports []int32
	// NoSuchSection says that the Service has no TCP port of that name, and Sections are
	// the names that it has.
	NoSuchSection bool
	Sections      []string
}

// NoPort is the number of a port that no request comes in for.
const NoPort int32 = -1

func (r Resolved) portsOrAll() []int32 {
	if r.Ports == nil {
		return []int32{0}
	}
	return r.Ports
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

// name is what the target is called in selectors, such as "Deployment/web" or, of one
// port, "Service/web/http".
func (t Target) name() string {
	if t.SectionName != "" {
		return t.Kind + "/" + t.Name + "/" + t.SectionName
	}
	return t.Kind + "/" + t.Name
}

// selectorsOf are the selectors of a valid policy, in the order of its targets, and a
// problem for each target that does not exist. They are named after their targets if
// wanted.
func selectorsOf(policy *v1alpha1.RateLimitPolicy, targets map[Target]Resolved, named bool) ([]ruleset.Selector, []v1alpha1.Problem) {
	if policy.Spec.Selector != nil {
		return []ruleset.Selector{Selector(policy.Spec.Selector)}, nil
	}
	var selectors []ruleset.Selector
	var missing []v1alpha1.Problem
	for i := range policy.Spec.TargetRefs {
		ref := &policy.Spec.TargetRefs[i]
		target := targetOf(ref)
		resolved, found := targets[target]
		if problem := problemOf(ref, resolved, found, policy.Namespace); problem != nil {
			problem.Field = field.NewPath("spec", "targetRefs").Index(i).Child(problem.Field).String()
			missing = append(missing, *problem)
			continue
		}
		for _, port := range resolved.portsOrAll() {
			selector := resolved.Selector
			selector.Port = port
			if named {
				selector.Target = target.name()
			}
			selectors = append(selectors, selector)
		}
	}
	return selectors, missing
}

// problemOf says why a target has no pods, in which field of the reference; nil if it
// may have some.
func problemOf(ref *v1alpha1.TargetReference, resolved Resolved, found bool, namespace string) *v1alpha1.Problem {
	missing := func(name, format string, values ...any) *v1alpha1.Problem {
		return &v1alpha1.Problem{Field: name, Reason: v1alpha1.ReasonTargetNotFound, Message: fmt.Sprintf(format, values...)}
	}
	switch {
	case !found:
		return missing("name", "%s %q does not exist in namespace %q: create it, or name one that does", ref.Kind, ref.Name, namespace)
	case len(resolved.Selector.MatchLabels) == 0 && len(resolved.Selector.MatchExpressions) == 0:
		// A Service without a selector selects no pod, while an empty selector
		// would select every pod of the namespace.
		return missing("name", "%s %q has no selector and so no pods: use spec.selector to select pods by their labels", ref.Kind, ref.Name)
	case resolved.NoSuchSection && len(resolved.Sections) == 0:
		return missing("sectionName", "%s %q has no TCP port with a name: name the port %s there, or remove sectionName to limit all ports", ref.Kind, ref.Name, ref.SectionName)
	case resolved.NoSuchSection:
		return missing("sectionName", "%s %q has no TCP port named %q: write one of %s", ref.Kind, ref.Name, ref.SectionName, strings.Join(resolved.Sections, ", "))
	}
	return nil
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
