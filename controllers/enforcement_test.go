// Copyright The Penstock Authors.
// SPDX-License-Identifier: Apache-2.0

package controllers_test

import (
	"strings"
	"testing"
	"time"

	"github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	eventsv1 "k8s.io/api/events/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/penstock-dev/penstock/api/v1alpha1"
	"github.com/penstock-dev/penstock/internal/store"
)

// countsEvery is how often counts alone may be written.
const countsEvery = 5 * time.Second

func TestPolicyIsEnforcedOnceEveryPodAcknowledged(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	first, second := s.pod("web-1"), s.pod("web-2")
	policy := s.policy("web")
	ready := func() string { return s.condition(policy, v1alpha1.ConditionReady) }

	eventually(t, "published rules", s.rules, []string{"web@1: 10"})
	eventually(t, "programmed", func() string { return s.condition(policy, v1alpha1.ConditionProgrammed) }, "True/Programmed")
	eventually(t, "ready, before any ack", ready, "False/Pending")

	s.acknowledge(first)
	eventually(t, "pods, after one ack", func() string { return s.pods(policy) }, "1/2")
	eventually(t, "ready, after one ack", ready, "False/Pending")
	if message := s.message(policy, v1alpha1.ConditionEnforced); !strings.Contains(message, "web-2") {
		t.Errorf("the message is %q, want the missing pod web-2 in it", message)
	}

	s.acknowledge(first, second)
	eventually(t, "ready, after both acks", ready, "True/Ready")
	eventually(t, "pods", func() string { return s.pods(policy) }, "2/2")
	status := s.read(policy).Status
	if status.ObservedGeneration != 1 || status.ActiveGeneration != 1 || status.Revision == "" || status.Effective == nil || status.Effective.Store != s.namespace {
		t.Errorf("status is %+v, want generation 1 in force in store %s", status, s.namespace)
	}
	eventually(t, "live pods in the store", func() map[string]int64 {
		head, err := s.store.Head(t.Context(), s.namespace)
		if err != nil {
			t.Fatal(err)
		}
		return head.LivePods
	}, map[string]int64{"RateLimitPolicy/web": 2})
	eventually(t, "events", func() []string { return s.eventReasons("web") }, []string{"Pending", "Ready"})
}

func TestAckOlderThanThePolicysChangeDoesNotCount(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	pod := s.pod("web-1")
	policy := s.policy("web")
	eventually(t, "published rules", s.rules, []string{"web@1: 10"})
	old := s.published()
	s.acknowledge(pod)
	eventually(t, "ready", func() string { return s.condition(policy, v1alpha1.ConditionReady) }, "True/Ready")

	s.edit(policy, func(spec *v1alpha1.RateLimitPolicySpec) { spec.Rules[0].Limits[0].Requests = 20 })
	eventually(t, "published rules", s.rules, []string{"web@2: 20"})
	eventually(t, "enforced, the pod runs the old rules", func() string { return s.condition(policy, v1alpha1.ConditionEnforced) }, "False/Pending")
	// A beat with the old sequence must not pass for an acknowledgement.
	s.acknowledgeAs(pod, store.Ack{Sequence: old.Sequence, Revision: old.Revision, Undecided: 1})
	eventually(t, "pods", func() string { return s.pods(policy) }, "0/1")
	if got := s.condition(policy, v1alpha1.ConditionEnforced); got != "False/Pending" {
		t.Errorf("enforced is %s after an old ack, want False/Pending", got)
	}

	s.acknowledge(pod)
	eventually(t, "enforced", func() string { return s.condition(policy, v1alpha1.ConditionEnforced) }, "True/Enforced")
	if got := s.read(policy).Status.ActiveGeneration; got != 2 {
		t.Errorf("active generation is %d, want 2", got)
	}
}

func TestAnotherPolicysChangeLeavesThisOneEnforced(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	pod := s.pod("web-1")
	policy := s.policy("web")
	eventually(t, "published rules", s.rules, []string{"web@1: 10"})
	s.acknowledge(pod)
	eventually(t, "ready", func() string { return s.condition(policy, v1alpha1.ConditionReady) }, "True/Ready")
	other := s.policy("zoo")
	eventually(t, "the other one", func() string { return s.condition(other, v1alpha1.ConditionEnforced) }, "False/Pending")
	if got := s.condition(policy, v1alpha1.ConditionEnforced); got != "True/Enforced" {
		t.Errorf("enforced is %s after another policy was added, want True/Enforced", got)
	}
}

func TestSilentSidecarIsNamed(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	speaking, _ := s.pod("web-1"), s.pod("web-2")
	policy := s.policy("web")
	eventually(t, "published rules", s.rules, []string{"web@1: 10"})
	s.acknowledge(speaking)
	eventually(t, "pods", func() string { return s.pods(policy) }, "1/2")
	s.advance(31 * time.Second)
	eventually(t, "enforced", func() string { return s.condition(policy, v1alpha1.ConditionEnforced) }, "False/SidecarSilent")
	if message := s.message(policy, v1alpha1.ConditionEnforced); !strings.Contains(message, "web-2") || strings.Contains(message, "web-1") {
		t.Errorf("the message is %q, want web-2 in it and not web-1", message)
	}
}

func TestPodWithoutSidecarIsNamedWithItsReason(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	s.pod("web-1", bare, func(pod *corev1.Pod) {
		pod.Annotations = map[string]string{v1alpha1.AnnotationStatus: `{"injected":false,"reason":"HostNetwork","message":"its ports are the node's"}`}
	})
	policy := s.policy("web")
	eventually(t, "ready", func() string { return s.condition(policy, v1alpha1.ConditionReady) }, "False/NotInjected")
	if message := s.message(policy, v1alpha1.ConditionEnforced); !strings.Contains(message, "web-1") || !strings.Contains(message, "HostNetwork") {
		t.Errorf("the message is %q, want pod web-1 and HostNetwork in it", message)
	}
	eventually(t, "events of the pod", func() []string { return s.eventReasons("web-1") }, []string{"HostNetwork"})
}

func TestSidecarThatCannotReadTheRulesIsOutdated(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	pod := s.pod("web-1")
	policy := s.policy("web")
	eventually(t, "published rules", s.rules, []string{"web@1: 10"})
	s.acknowledgeAs(pod, store.Ack{Sequence: 1, Problem: store.ProblemUnsupportedFormat})
	eventually(t, "enforced", func() string { return s.condition(policy, v1alpha1.ConditionEnforced) }, "False/SidecarOutdated")
	s.acknowledge(pod)
	eventually(t, "enforced", func() string { return s.condition(policy, v1alpha1.ConditionEnforced) }, "True/Enforced")
	published := s.published()
	s.acknowledgeAs(pod, store.Ack{Sequence: published.Sequence, Revision: published.Revision, BreakerOpen: true})
	eventually(t, "enforced", func() string { return s.condition(policy, v1alpha1.ConditionEnforced) }, "False/StoreDegraded")
}

func TestServicePastTheSidecarIsNamed(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	pod := s.pod("web-1")
	policy := s.policy("web")
	eventually(t, "published rules", s.rules, []string{"web@1: 10"})
	s.acknowledge(pod)
	eventually(t, "enforced", func() string { return s.condition(policy, v1alpha1.ConditionEnforced) }, "True/Enforced")
	service := &corev1.Service{
		ObjectMeta: metav1.ObjectMeta{Namespace: s.namespace, Name: "front"},
		Spec: corev1.ServiceSpec{
			Selector: map[string]string{"app": "web"},
			Ports:    []corev1.ServicePort{{Port: 80, TargetPort: intstr.FromInt32(8080)}},
		},
	}
	create(t, s.client, service)
	eventually(t, "enforced", func() string { return s.condition(policy, v1alpha1.ConditionEnforced) }, "False/NotIntercepted")
	if message := s.message(policy, v1alpha1.ConditionEnforced); !strings.Contains(message, "front") {
		t.Errorf("the message is %q, want service front in it", message)
	}
	if err := s.client.Delete(t.Context(), service); err != nil {
		t.Fatal(err)
	}
	eventually(t, "enforced", func() string { return s.condition(policy, v1alpha1.ConditionEnforced) }, "True/Enforced")
}

func TestNothingIsWrittenWhileNothingChanges(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	pod := s.pod("web-1")
	policy := s.policy("web")
	eventually(t, "published rules", s.rules, []string{"web@1: 10"})
	s.acknowledge(pod)
	eventually(t, "ready", func() string { return s.condition(policy, v1alpha1.ConditionReady) }, "True/Ready")
	eventually(t, "rules in the snapshot", s.snapshotRules, []string{"web@1: 10"})
	versions := func() [2]string {
		s.acknowledge(pod) // a beat
		return [2]string{s.read(policy).ResourceVersion, s.secret().ResourceVersion}
	}
	before := versions()
	gomega.NewWithT(t).Consistently(versions, 2*countsEvery, time.Second).Should(gomega.Equal(before), "versions of policy and Secret")
}

func TestNoPods(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	policy := s.policy("web")
	eventually(t, "ready", func() string { return s.condition(policy, v1alpha1.ConditionReady) }, "True/NoPods")
	eventually(t, "enforced", func() string { return s.condition(policy, v1alpha1.ConditionEnforced) }, "Unknown/NoPods")
}

// eventReasons are the reasons of the events about an object, oldest first.
func (s *scene) eventReasons(about string) []string {
	s.t.Helper()
	list := &eventsv1.EventList{}
	if err := s.client.List(s.t.Context(), list, client.InNamespace(s.namespace)); err != nil {
		s.t.Fatal(err)
	}
	reasons := []string{}
	for _, event := range list.Items {
		if event.Regarding.Name == about {
			reasons = append(reasons, event.Reason)
		}
	}
	return reasons
}
