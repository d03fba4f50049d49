// Copyright The Penstock Authors.
// SPDX-License-Identifier: Apache-2.0

package api

import (
	"slices"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/penstock-dev/penstock/api/v1alpha1"
	"github.com/penstock-dev/penstock/internal/compile"
	"github.com/penstock-dev/penstock/internal/ruleset"
)

// judge says what the operator answers to an object of any kind: the reason of its
// condition Accepted, and the problems. All targets exist.
func judge(tb testing.TB, object *unstructured.Unstructured) (reason string, problems []v1alpha1.Problem) {
	tb.Helper()
	switch object.GetKind() {
	case kindPolicy:
		policy := &v1alpha1.RateLimitPolicy{}
		mustConvert(tb, object, policy)
		policies := []*v1alpha1.RateLimitPolicy{policy}
		targets := map[compile.Target]compile.Resolved{}
		for _, target := range compile.Targets(policies) {
			targets[target] = compile.Resolved{Selector: ruleset.Selector{MatchLabels: map[string]string{"app": "web"}}}
		}
		result := compile.Namespace(compile.Input{Policies: policies, Targets: targets}).Policies[policy.Name]
		return result.Reason, result.Problems
	case kindClusterPolicy:
		policy := &v1alpha1.ClusterRateLimitPolicy{}
		mustConvert(tb, object, policy)
		problems = compile.ClusterPolicy(policy)
	case kindStore:
		store := &v1alpha1.RateLimitStore{}
		mustConvert(tb, object, store)
		problems = compile.Store(store)
	default:
		tb.Fatalf("judge an object of kind %q: not one of Penstock's", object.GetKind())
	}
	reason = v1alpha1.ReasonAccepted
	for _, problem := range problems {
		if reason != v1alpha1.ReasonInvalid {
			reason = problem.Reason
		}
	}
	return reason, problems
}

func mustConvert(tb testing.TB, object *unstructured.Unstructured, into any) {
	tb.Helper()
	if err := runtime.DefaultUnstructuredConverter.FromUnstructured(object.Object, into); err != nil {
		tb.Fatalf("convert an object of kind %s: %v", object.GetKind(), err)
	}
}

// Objects may be older than the rules of the schema: the operator checks them again,
// and agrees with the API server about both sides of each rule.
func TestOperatorAgreesWithTheSchemaAboutEachRule(t *testing.T) {
	t.Parallel()
	for kind, rules := range rulesByKind {
		for _, r := range rules {
			t.Run(kind+"/"+r.field+"/"+r.message, func(t *testing.T) {
				t.Parallel()
				if reason, problems := judge(t, object(t, kind, r.accepted)); reason == v1alpha1.ReasonInvalid {
					t.Errorf("accepted object: got Invalid, %v", problems)
				}
				if reason, _ := judge(t, object(t, kind, r.refused)); reason == v1alpha1.ReasonAccepted {
					t.Errorf("refused object: got Accepted")
				}
			})
		}
	}
}

func TestOperatorAgreesWithTheSchemaAboutEachBound(t *testing.T) {
	t.Parallel()
	for _, kind := range []string{kindPolicy, kindStore} {
		for _, b := range boundsByKind[kind] {
			t.Run(kind+"/"+b.path, func(t *testing.T) {
				t.Parallel()
				for _, value := range b.accepted {
					reason, problems := judge(t, object(t, kind, scaffold(b.path), change{b.path: value}))
					if reason == v1alpha1.ReasonInvalid && !onlyUnresolved(problems) {
						t.Errorf("accepted value %s: got Invalid, %v", value, problems)
					}
				}
			})
		}
	}
}

// onlyUnresolved reports whether nothing is wrong but a parameter that no template
// names: a bound of its name says nothing of templates.
func onlyUnresolved(problems []v1alpha1.Problem) bool {
	return !slices.ContainsFunc(problems, func(problem v1alpha1.Problem) bool {
		return problem.Reason != v1alpha1.ReasonUnresolvedPathParam
	})
}
