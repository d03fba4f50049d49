// Copyright The Penstock Authors.
// SPDX-License-Identifier: Apache-2.0

package controllers_test

import (
	"bytes"
	"encoding/json"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/penstock-dev/penstock/api/v1alpha1"
	"github.com/penstock-dev/penstock/controllers"
	"github.com/penstock-dev/penstock/internal/redisconn"
	"github.com/penstock-dev/penstock/internal/ruleset"
)

func TestTargetIsFollowed(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	policy := s.policy("web", func(policy *v1alpha1.RateLimitPolicy) {
		policy.Spec.Selector = nil
		policy.Spec.TargetRefs = []v1alpha1.TargetReference{{Group: "apps", Kind: v1alpha1.TargetDeployment, Name: "web"}}
	})
	pod := s.pod("web-1")
	eventually(t, "ready without the target", func() string { return s.condition(policy, v1alpha1.ConditionReady) }, "False/TargetNotFound")
	if got := s.condition(policy, v1alpha1.ConditionStalled); got != "absent" {
		t.Errorf("stalled is %s for a target that may still come, want it absent", got)
	}
	pods := map[string]string{"app": "web"}
	create(t, s.client, &appsv1.Deployment{
		ObjectMeta: metav1.ObjectMeta{Namespace: s.namespace, Name: "web"},
		Spec: appsv1.DeploymentSpec{
			Selector: &metav1.LabelSelector{MatchLabels: pods},
			Template: corev1.PodTemplateSpec{
				ObjectMeta: metav1.ObjectMeta{Labels: pods},
				Spec:       corev1.PodSpec{Containers: []corev1.Container{{Name: "app", Image: "app.example/web"}}},
			},
		},
	})
	eventually(t, "published rules", s.rules, []string{"web@1: 10"})
	s.acknowledge(pod)
	eventually(t, "ready", func() string { return s.condition(policy, v1alpha1.ConditionReady) }, "True/Ready")
}

func TestPodsComeAndGo(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	first, second := s.pod("web-1"), s.pod("web-2")
	policy := s.policy("web")
	eventually(t, "published rules", s.rules, []string{"web@1: 10"})
	s.acknowledge(first, second)
	eventually(t, "pods", func() string { return s.pods(policy) }, "2/2")
	if err := s.client.Delete(t.Context(), second, client.GracePeriodSeconds(0)); err != nil {
		t.Fatal(err)
	}
	eventually(t, "pods after one was deleted", func() string { return s.pods(policy) }, "1/1")
	if got := s.condition(policy, v1alpha1.ConditionReady); got != "True/Ready" {
		t.Errorf("ready is %s after a pod was deleted, want True/Ready", got)
	}
}

func TestNamespaceWithoutPoliciesHasAnEmptyRuleSetAndTheSecret(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	eventually(t, "published rules", s.rules, []string{})
	eventually(t, "rules in the snapshot", s.snapshotRules, []string{})
	secret := s.secret()
	settings := redisconn.Settings{}
	if err := json.Unmarshal(secret.Data["store.json"], &settings); err != nil {
		t.Fatal(err)
	}
	want := redisconn.Settings{Addresses: []string{s.redis.Addr()}, Username: "sidecars", Password: "sidecar-secret"}
	if diff := cmp.Diff(want, settings); diff != "" {
		t.Errorf("store.json (-want +got):\n%s", diff)
	}
	for key, value := range secret.Data {
		if bytes.Contains(value, []byte("operator")) {
			t.Errorf("key %s of the Secret holds the operator's credentials", key)
		}
	}
}

func TestCredentialsReachTheSecretWhenTheyRotate(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	eventually(t, "rules in the snapshot", s.snapshotRules, []string{})
	rotated := &corev1.Secret{}
	key := client.ObjectKey{Namespace: operatorNamespace, Name: s.namespace + "-sidecar"}
	if err := s.client.Get(t.Context(), key, rotated); err != nil {
		t.Fatal(err)
	}
	rotated.Data["password"] = []byte("new-secret")
	if err := s.client.Update(t.Context(), rotated); err != nil {
		t.Fatal(err)
	}
	eventually(t, "new password in store.json", func() bool {
		return bytes.Contains(s.secret().Data["store.json"], []byte("new-secret"))
	}, true)
	if rules := s.snapshotRules(); rules == nil {
		t.Error("the rotation took the snapshot out of the Secret")
	}
}

func TestDeletedSecretComesBack(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	eventually(t, "rules in the snapshot", s.snapshotRules, []string{})
	if err := s.client.Delete(t.Context(), s.secret()); err != nil {
		t.Fatal(err)
	}
	s.advance(31 * time.Second) // it is looked at every 30 s
	eventually(t, "rules in the snapshot", s.snapshotRules, []string{})
}

func TestUnlabelledNamespaceLeavesNothingBehind(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	policy := s.policy("web")
	pod := s.pod("web-1")
	eventually(t, "published rules", s.rules, []string{"web@1: 10"})
	s.label(v1alpha1.LabelInjection, "")
	if err := s.client.Delete(t.Context(), policy); err != nil {
		t.Fatal(err)
	}
	eventually(t, "published rules, while a sidecar still runs", s.rules, []string{})
	if s.secret() == nil {
		t.Error("the Secret is gone while a sidecar still runs")
	}
	if err := s.client.Delete(t.Context(), pod, client.GracePeriodSeconds(0)); err != nil {
		t.Fatal(err)
	}
	eventually(t, "Secret", func() bool { return s.secret() == nil }, true)
	eventually(t, "keys in the store", func() []string {
		found, err := s.rdb.Keys(t.Context(), "*").Result()
		if err != nil {
			t.Fatal(err)
		}
		return found
	}, []string{"penstock:owner"})
}

func TestDeletedNamespaceLeavesNoKeys(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	eventually(t, "published rules", s.rules, []string{})
	namespace := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: s.namespace}}
	if err := s.client.Delete(t.Context(), namespace); err != nil {
		t.Fatal(err)
	}
	// This stands in for the namespace controller, which a bare control plane lacks.
	if err := s.client.Get(t.Context(), client.ObjectKeyFromObject(namespace), namespace); err != nil {
		t.Fatal(err)
	}
	namespace.Spec.Finalizers = nil
	if err := s.client.SubResource("finalize").Update(t.Context(), namespace); err != nil {
		t.Fatal(err)
	}
	eventually(t, "published rules of a namespace that is gone", s.rules, nil)
}

func TestEnsureSidecarSecretMakesItBeforeTheFirstPod(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	eventually(t, "rules in the snapshot", s.snapshotRules, []string{})
	s.stopOperator()
	if err := s.client.Delete(t.Context(), s.secret()); err != nil {
		t.Fatal(err)
	}
	// As on a replica that is not the leader: nothing but the API server is asked.
	secrets := controllers.NewSidecarSecrets(s.client, s.client, s.client, operatorNamespace)
	for range 2 {
		if err := secrets.EnsureSidecarSecret(t.Context(), s.namespace); err != nil {
			t.Fatal(err)
		}
	}
	if secret := s.secret(); secret == nil || len(secret.Data["store.json"]) == 0 {
		t.Errorf("the Secret is %v, want one with store.json", secret)
	}
}

func TestIdentityKeyIsMadeOnce(t *testing.T) {
	t.Parallel()
	plane := sharedControlPlane(t)
	namespace := plane.Namespace(t, nil)
	const operators = 8
	made := make(chan string, operators)
	for range operators {
		go func() {
			key, err := controllers.NewIdentity(plane.Client, plane.Client, namespace).Key(t.Context(), types.UID("a"))
			if err != nil {
				made <- err.Error()
				return
			}
			made <- string(key)
		}()
	}
	first := <-made
	for range operators - 1 {
		if other := <-made; other != first {
			t.Errorf("two operators made the identity keys %x and %x", first, other)
		}
	}
	other, err := controllers.NewIdentity(plane.Client, plane.Client, namespace).Key(t.Context(), types.UID("b"))
	if err != nil {
		t.Fatal(err)
	}
	if string(other) == first {
		t.Error("two namespaces have the same identity key")
	}
}

func TestIdentityKeyThatVanishedIsPutBack(t *testing.T) {
	t.Parallel()
	plane := sharedControlPlane(t)
	namespace := plane.Namespace(t, nil)
	running := controllers.NewIdentity(plane.Client, plane.Client, namespace)
	want, err := running.Key(t.Context(), types.UID("a"))
	if err != nil {
		t.Fatal(err)
	}
	secret := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "penstock-identity"}}
	if err := plane.Client.Delete(t.Context(), secret); err != nil {
		t.Fatal(err)
	}
	if err := running.Restore(t.Context()); err != nil {
		t.Fatal(err)
	}
	got, err := controllers.NewIdentity(plane.Client, plane.Client, namespace).Key(t.Context(), types.UID("a"))
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got, want) {
		t.Error("the next operator has another identity key: all counts start fresh")
	}
}

// secret is the namespace's; nil if there is none.
func (s *scene) secret() *corev1.Secret {
	s.t.Helper()
	secret := &corev1.Secret{}
	err := s.client.Get(s.t.Context(), client.ObjectKey{Namespace: s.namespace, Name: v1alpha1.SidecarSecretName}, secret)
	if apierrors.IsNotFound(err) {
		return nil
	}
	if err != nil {
		s.t.Fatal(err)
	}
	return secret
}

// snapshot is the Secret's; its sequence is 0 if there is none.
func (s *scene) snapshot() ruleset.Published {
	s.t.Helper()
	published := ruleset.Published{}
	secret := s.secret()
	if secret == nil || len(secret.Data["rules.json"]) == 0 {
		return published
	}
	if err := json.Unmarshal(secret.Data["rules.json"], &published); err != nil {
		s.t.Fatal(err)
	}
	return published
}

// snapshotRules are the policies in the Secret's snapshot; nil if there is none.
func (s *scene) snapshotRules() []string {
	s.t.Helper()
	published := s.snapshot()
	if published.Sequence == 0 {
		return nil
	}
	return s.decodeRules(published)
}
