// Copyright The Penstock Authors.
// SPDX-License-Identifier: Apache-2.0

package compile

import (
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/penstock-dev/penstock/api/v1alpha1"
	"github.com/penstock-dev/penstock/internal/ruleset"
)

// newPolicy is a valid policy with one rule of one limit, for the pods of one app.
func newPolicy(name string, changes ...func(*v1alpha1.RateLimitPolicy)) *v1alpha1.RateLimitPolicy {
	policy := &v1alpha1.RateLimitPolicy{
		ObjectMeta: metav1.ObjectMeta{
			Name: name, Namespace: "shop", Generation: 1,
			CreationTimestamp: metav1.NewTime(time.Date(2026, time.March, 1, 0, 0, 0, 0, time.UTC)),
		},
		Spec: v1alpha1.RateLimitPolicySpec{
			Selector: &metav1.LabelSelector{MatchLabels: map[string]string{"app": "web"}},
			PolicyRules: v1alpha1.PolicyRules{Rules: []v1alpha1.Rule{{
				Name:   "all",
				Limits: []v1alpha1.Limit{{Name: "minute", Requests: 60, Window: "1m"}},
			}}},
		},
	}
	for _, change := range changes {
		change(policy)
	}
	return policy
}

func generation(n int64) func(*v1alpha1.RateLimitPolicy) {
	return func(p *v1alpha1.RateLimitPolicy) { p.Generation = n }
}

func createdAfter(hours int) func(*v1alpha1.RateLimitPolicy) {
	return func(p *v1alpha1.RateLimitPolicy) {
		p.CreationTimestamp = metav1.NewTime(p.CreationTimestamp.Add(time.Duration(hours) * time.Hour))
	}
}

func requests(n int64) func(*v1alpha1.RateLimitPolicy) {
	return func(p *v1alpha1.RateLimitPolicy) { p.Spec.Rules[0].Limits[0].Requests = n }
}

func invalid(p *v1alpha1.RateLimitPolicy) { p.Spec.Rules[0].Limits[0].Window = "soon" }

func disabled(p *v1alpha1.RateLimitPolicy) { p.Spec.Mode = v1alpha1.ModeDisabled }

// targeting makes the policy name Deployments in place of its selector.
func targeting(deployments ...string) func(*v1alpha1.RateLimitPolicy) {
	return func(p *v1alpha1.RateLimitPolicy) {
		p.Spec.Selector = nil
		for _, name := range deployments {
			p.Spec.TargetRefs = append(p.Spec.TargetRefs, v1alpha1.TargetReference{Group: "apps", Kind: v1alpha1.TargetDeployment, Name: name})
		}
	}
}

// deployments are targets whose pods have the label app with their name.
func deployments(found ...string) map[Target]Resolved {
	targets := make(map[Target]Resolved)
	for _, name := range found {
		targets[Target{Group: "apps", Kind: "Deployment", Name: name}] = Resolved{Selector: appSelector(name)}
	}
	return targets
}

func appSelector(app string) ruleset.Selector {
	return ruleset.Selector{MatchLabels: map[string]string{"app": app}}
}

func namespaceInput(policies ...*v1alpha1.RateLimitPolicy) Input {
	return Input{Namespace: "shop", IdentityKey: []byte("key of the namespace"), Store: "default", Policies: policies}
}

// compileOne compiles the one policy, after what was published before.
func compileOne(t *testing.T, previous *ruleset.RuleSet, targets map[Target]Resolved, policy *v1alpha1.RateLimitPolicy) (PolicyResult, *ruleset.RuleSet) {
	t.Helper()
	in := namespaceInput(policy)
	in.Previous, in.Targets = previous, targets
	out := Namespace(in)
	result, ok := out.Policies[policy.Name]
	if !ok {
		t.Fatalf("no result for policy %q", policy.Name)
	}
	return result, out.RuleSet
}
