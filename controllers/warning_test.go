// Copyright The Penstock Authors.
// SPDX-License-Identifier: Apache-2.0

package controllers_test

import (
	"slices"
	"testing"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/penstock-dev/penstock/api/v1alpha1"
)

func TestWarningsAreInStatus(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	policy := s.policy("web", func(policy *v1alpha1.RateLimitPolicy) {
		claim := &v1alpha1.JWTClaimKey{Name: "sub", Verification: v1alpha1.JWTVerificationNone}
		policy.Spec.Rules[0].Key = []v1alpha1.KeyPart{{Name: "client", From: []v1alpha1.KeySource{{JWTClaim: claim}}}}
		policy.Spec.Rules[0].Matches = []v1alpha1.Match{{Path: &v1alpha1.PathMatch{Value: "/u/:id"}}}
		policy.Spec.Exempt = &v1alpha1.Exempt{CIDRs: []string{"0.0.0.0/0"}}
	})
	eventually(t, "ready", func() string { return s.condition(policy, v1alpha1.ConditionReady) }, "True/NoPods")
	found := &v1alpha1.RateLimitPolicy{}
	if err := s.client.Get(t.Context(), client.ObjectKeyFromObject(policy), found); err != nil {
		t.Fatal(err)
	}
	var reasons []string
	for _, problem := range found.Status.Problems {
		reasons = append(reasons, problem.Reason)
	}
	slices.Sort(reasons)
	want := []string{v1alpha1.ReasonExemptsEveryone, v1alpha1.ReasonLiteralPath, v1alpha1.ReasonUnverifiedToken}
	if !slices.Equal(reasons, want) {
		t.Errorf("status.problems have the reasons %v, want the warnings %v", reasons, want)
	}
}
