// Copyright The Penstock Authors.
// SPDX-License-Identifier: Apache-2.0

package controllers_test

import (
	"fmt"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/penstock-dev/penstock/api/v1alpha1"
	"github.com/penstock-dev/penstock/internal/ruleset"
)

// TestOnePortOfAService follows a section to the number that it has in the pods.
func TestOnePortOfAService(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	service := &corev1.Service{
		ObjectMeta: metav1.ObjectMeta{Namespace: s.namespace, Name: "front"},
		Spec: corev1.ServiceSpec{
			Selector: map[string]string{"app": "web"},
			Ports: []corev1.ServicePort{
				{Name: "public", Port: 80, TargetPort: intstr.FromString("http")},
				{Name: "admin", Port: 81, TargetPort: intstr.FromInt32(9090)},
			},
		},
	}
	create(t, s.client, service)
	section := func(name string) func(*v1alpha1.RateLimitPolicySpec) {
		return func(spec *v1alpha1.RateLimitPolicySpec) {
			spec.Selector = nil
			spec.TargetRefs = []v1alpha1.TargetReference{{Kind: v1alpha1.TargetService, Name: "front", SectionName: name}}
		}
	}
	policy := s.policy("web", func(p *v1alpha1.RateLimitPolicy) { section("public")(&p.Spec) })
	accepted := func() string { return s.condition(policy, v1alpha1.ConditionAccepted) }
	enforced := func() string { return s.condition(policy, v1alpha1.ConditionEnforced) }
	eventually(t, "ports before there is a pod", s.ports, []int32{-1})

	pod := s.pod("web-1")
	eventually(t, "ports with a pod", s.ports, []int32{8080})
	s.acknowledge(pod)
	eventually(t, "enforced", enforced, "True/Enforced")

	s.edit(policy, section("admin"))
	eventually(t, "ports of another section", s.ports, []int32{9090})
	s.acknowledge(pod)
	eventually(t, "enforced where no sidecar stands", enforced, "False/NotIntercepted")

	s.edit(policy, section("grpc"))
	eventually(t, "accepted of an unknown section", accepted, "False/TargetNotFound")
	if message := s.message(policy, v1alpha1.ConditionAccepted); !strings.Contains(message, "admin, public") {
		t.Errorf("the message is %q, want the names of the sections in it", message)
	}
	if got := s.ports(); fmt.Sprint(got) != "[9090]" {
		t.Errorf("ports %v, want the last valid ones in force", got)
	}
	before := service.DeepCopy()
	service.Spec.Ports[1].Name = "grpc"
	if err := s.client.Patch(t.Context(), service, client.MergeFrom(before)); err != nil {
		t.Fatal(err)
	}
	eventually(t, "accepted once there is such a section", accepted, "True/Accepted")
}

// ports are those that the first published policy is for.
func (s *scene) ports() []int32 {
	s.t.Helper()
	published := s.published()
	if published.Sequence == 0 {
		return nil
	}
	rs, err := ruleset.Decode(published.Body)
	if err != nil {
		s.t.Fatal(err)
	}
	var ports []int32
	for _, policy := range rs.Policies {
		for _, selector := range policy.Selectors {
			ports = append(ports, selector.Port)
		}
	}
	return ports
}
