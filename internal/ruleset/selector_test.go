// Copyright The Penstock Authors.
// SPDX-License-Identifier: Apache-2.0

package ruleset

import (
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"pgregory.net/rapid"
)

// TestSelectorSelectsAsKubernetesDoes compares with Kubernetes' own selectors.
func TestSelectorSelectsAsKubernetesDoes(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		name := rapid.SampledFrom([]string{"app", "tier", "zone"})
		value := rapid.SampledFrom([]string{"", "web", "api"})
		selector := Selector{MatchLabels: rapid.MapOfN(name, value, 0, 2).Draw(t, "matchLabels")}
		theirs := &metav1.LabelSelector{MatchLabels: selector.MatchLabels}
		for range rapid.IntRange(0, 2).Draw(t, "expressions") {
			requirement := Requirement{Key: name.Draw(t, "key"), Operator: rapid.SampledFrom([]string{"In", "NotIn", "Exists", "DoesNotExist"}).Draw(t, "operator")}
			if requirement.Operator == "In" || requirement.Operator == "NotIn" {
				requirement.Values = rapid.SliceOfN(value, 1, 2).Draw(t, "values")
			}
			selector.MatchExpressions = append(selector.MatchExpressions, requirement)
			theirs.MatchExpressions = append(theirs.MatchExpressions, metav1.LabelSelectorRequirement{
				Key: requirement.Key, Operator: metav1.LabelSelectorOperator(requirement.Operator), Values: requirement.Values,
			})
		}
		pod := rapid.MapOfN(name, value, 0, 3).Draw(t, "pod")
		want, err := metav1.LabelSelectorAsSelector(theirs)
		if err != nil {
			t.Fatal(err)
		}
		if got := selector.Selects(pod); got != want.Matches(labels.Set(pod)) {
			t.Errorf("%+v selects %v: %v, Kubernetes says %v", selector, pod, got, !got)
		}
	})
}

func TestSelectorWithUnknownOperatorSelectsNothing(t *testing.T) {
	t.Parallel()
	selector := Selector{MatchExpressions: []Requirement{{Key: "app", Operator: "Gt", Values: []string{"1"}}}}
	if selector.Selects(map[string]string{"app": "2"}) {
		t.Error("a selector with an operator of a later version selects a pod")
	}
}
