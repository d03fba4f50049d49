// Copyright The Penstock Authors.
// SPDX-License-Identifier: Apache-2.0

package controllers_test

import (
	"slices"
	"testing"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/penstock-dev/penstock/api/v1alpha1"
	"github.com/penstock-dev/penstock/internal/store"
)

func TestWarningsAreInStatus(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	policy := s.policy("web", func(policy *v1alpha1.RateLimitPolicy) {
		claim := &v1alpha1.JWTClaimKey{Name: "sub", Verification: v1alpha1.JWTVerificationNone}
		policy.Spec.Rules[0].Key = []v1alpha1.KeyPart{{Name: "client", From: []v1alpha1.KeySource{{JWTClaim: claim}}}}
		policy.Spec.Rules[0].Matches = []v1alpha1.Match{{Path: &v1alpha1.PathMatch{Value: "/u/:id"}}}
		policy.Spec.ClientIP = &v1alpha1.ClientIP{Source: v1alpha1.ClientIPXForwardedFor, TrustedCIDRs: []string{"0.0.0.0/0"}}
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
	want := []string{v1alpha1.ReasonExemptsEveryone, v1alpha1.ReasonLiteralPath, v1alpha1.ReasonTrustsEveryone, v1alpha1.ReasonUnverifiedToken}
	if !slices.Equal(reasons, want) {
		t.Errorf("status.problems have the reasons %v, want the warnings %v", reasons, want)
	}
}

// TestPeerIsProxyIsAWarningInStatus has a pod tell of a proxy, and the policy be changed
// to believe it.
func TestPeerIsProxyIsAWarningInStatus(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	pod := s.pod("web-1")
	policy := s.policy("web", func(policy *v1alpha1.RateLimitPolicy) {
		policy.Spec.Rules[0].Key = []v1alpha1.KeyPart{{Name: "client", From: []v1alpha1.KeySource{{ClientIP: &v1alpha1.ClientIPKey{}}}}}
	})
	reasons := func() (reasons []string) {
		for _, problem := range s.read(policy).Status.Problems {
			reasons = append(reasons, problem.Reason)
		}
		return reasons
	}
	ready := func() string { return s.condition(policy, v1alpha1.ConditionReady) }
	tell := func(seen map[string]string) {
		s.acknowledgeAs(pod, store.Ack{Sequence: s.published().Sequence, Revision: s.published().Revision, PeerIsProxy: seen})
	}
	eventually(t, "published rules", s.rules, []string{"web@1: 10"})
	tell(nil)
	eventually(t, "ready", ready, "True/Ready")

	seen := map[string]string{"RateLimitPolicy/web": "X-Forwarded-For"}
	tell(seen)
	eventually(t, "problems, after a proxy was seen", reasons, []string{v1alpha1.ReasonPeerIsProxy})
	if got := ready(); got != "True/Ready" {
		t.Errorf("with a warning ready is %s, want True/Ready", got)
	}
	if got := s.condition(policy, v1alpha1.ConditionAccepted); got != "True/Accepted" {
		t.Errorf("with a warning accepted is %s, want True/Accepted", got)
	}

	s.edit(policy, func(spec *v1alpha1.RateLimitPolicySpec) {
		spec.ClientIP = &v1alpha1.ClientIP{Source: v1alpha1.ClientIPXForwardedFor, TrustedCIDRs: []string{"10.0.0.0/8"}}
	})
	eventually(t, "problems, once the policy believes the proxy", reasons, nil)
	eventually(t, "published rules", s.rules, []string{"web@2: 10"})
	tell(nil)
	eventually(t, "ready", ready, "True/Ready")
	if got := reasons(); len(got) > 0 {
		t.Errorf("problems are %v, want none", got)
	}
}
