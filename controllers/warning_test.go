// Copyright The Penstock Authors.
// SPDX-License-Identifier: Apache-2.0

package controllers_test

import (
	"testing"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/penstock-dev/penstock/api/v1alpha1"
)

func TestUnverifiedTokensAreAWarningInStatus(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	policy := s.policy("web", func(policy *v1alpha1.RateLimitPolicy) {
		claim := &v1alpha1.JWTClaimKey{Name: "sub", Verification: v1alpha1.JWTVerificationNone}
		policy.Spec.Rules[0].Key = []v1alpha1.KeyPart{{Name: "client", From: []v1alpha1.KeySource{{JWTClaim: claim}}}}
	})
	eventually(t, "ready", func() string { return s.condition(policy, v1alpha1.ConditionReady) }, "True/NoPods")
	found := &v1alpha1.RateLimitPolicy{}
	if err := s.client.Get(t.Context(), client.ObjectKeyFromObject(policy), found); err != nil {
		t.Fatal(err)
	}
	if problems := found.Status.Problems; len(problems) != 1 || problems[0].Reason != v1alpha1.ReasonUnverifiedToken {
		t.Errorf("status.problems are %+v, want one warning", problems)
	}
}
