// Copyright The Penstock Authors.
// SPDX-License-Identifier: Apache-2.0

package controllers_test

import (
	"context"
	"encoding/json"
	"fmt"
	"sync/atomic"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/labels"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/config"
	metricsserver "sigs.k8s.io/controller-runtime/pkg/metrics/server"

	"github.com/penstock-dev/penstock/api/v1alpha1"
	"github.com/penstock-dev/penstock/controllers"
	"github.com/penstock-dev/penstock/internal/keys"
	"github.com/penstock-dev/penstock/internal/ruleset"
	"github.com/penstock-dev/penstock/internal/store"
	"github.com/penstock-dev/penstock/test/redistest"
)

// scene is a namespace with a store and an operator of its own, which sees nothing
// else of the shared control plane.
type scene struct {
	t         *testing.T
	client    client.Client
	namespace string
	redis     *redistest.Server
	// client of the store's default user, to look and to play the sidecars.
	store *store.Store
	rdb   *redis.Client
	// secrets is what the operator gives to the webhook.
	secrets *controllers.SidecarSecrets

	stopOperator func()
	ahead        atomic.Int64
}

// sceneLabel is on the stores that a scene's operator sees.
const sceneLabel = "scene"

// storeUsers are those of every store, as the scene's Secrets name them.
var storeUsers = []string{
	"operator on >operator-secret ~penstock:* &penstock:* +@all",
	"sidecars on >sidecar-secret ~penstock:* &penstock:* +@all",
}

// newScene starts with an operator that runs and a store that answers.
func newScene(t *testing.T) *scene {
	t.Helper()
	plane := sharedControlPlane(t)
	s := &scene{t: t, client: plane.Client}
	s.redis = redistest.Start(t, redistest.WithUsers(storeUsers...))
	s.rdb = s.redis.Client(t)
	s.store = store.New(s.rdb, keys.DefaultPrefix)
	s.namespace = plane.Namespace(t, map[string]string{v1alpha1.LabelInjection: "enabled"})
	s.label(v1alpha1.LabelStore, s.namespace)
	for _, user := range []string{"operator", "sidecar"} {
		name := map[string]string{"operator": "operator", "sidecar": "sidecars"}[user]
		create(t, s.client, &corev1.Secret{
			ObjectMeta: metav1.ObjectMeta{Namespace: operatorNamespace, Name: s.namespace + "-" + user},
			StringData: map[string]string{"username": name, "password": user + "-secret"},
		})
	}
	create(t, s.client, s.storeObject())
	s.startOperator()
	return s
}

func (s *scene) storeObject() *v1alpha1.RateLimitStore {
	secret := func(user string) *v1alpha1.Credentials {
		return &v1alpha1.Credentials{SecretRef: v1alpha1.SecretReference{Name: s.namespace + "-" + user}}
	}
	return &v1alpha1.RateLimitStore{
		ObjectMeta: metav1.ObjectMeta{Name: s.namespace, Labels: map[string]string{sceneLabel: s.namespace}},
		Spec: v1alpha1.RateLimitStoreSpec{
			Addresses: []string{s.redis.Addr()}, Isolation: v1alpha1.IsolationShared,
			Credentials: secret("operator"), SidecarCredentials: secret("sidecar"),
		},
	}
}

// startOperator runs an operator until stopOperator, or the end of the test.
func (s *scene) startOperator() {
	s.t.Helper()
	mgr, err := ctrl.NewManager(shared.Config, ctrl.Options{
		Scheme:     s.client.Scheme(),
		Cache:      s.onlyThisScene(),
		Metrics:    metricsserver.Options{BindAddress: "0"},
		Controller: config.Controller{SkipNameValidation: new(true)},
	})
	if err != nil {
		s.t.Fatalf("make a manager: %v", err)
	}
	s.secrets, err = controllers.Setup(mgr, controllers.Options{
		Namespace: operatorNamespace,
		Now:       func() time.Time { return time.Now().Add(time.Duration(s.ahead.Load())) },
	})
	if err != nil {
		s.t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- mgr.Start(ctx) }()
	stopped := false
	s.stopOperator = func() {
		if stopped {
			return
		}
		stopped = true
		cancel()
		if err := <-done; err != nil {
			s.t.Errorf("operator: %v", err)
		}
	}
	s.t.Cleanup(s.stopOperator)
}

func (s *scene) onlyThisScene() cache.Options {
	options := controllers.CacheOptions()
	options.DefaultNamespaces = map[string]cache.Config{s.namespace: {}}
	onlyOwn := cache.ByObject{Field: fields.OneTermEqualSelector("metadata.name", s.namespace)}
	for _, object := range []client.Object{&corev1.Namespace{}, &v1alpha1.ClusterRateLimitPolicy{}} {
		options.ByObject[object] = onlyOwn
	}
	options.ByObject[&v1alpha1.RateLimitStore{}] = cache.ByObject{Label: labels.SelectorFromSet(labels.Set{sceneLabel: s.namespace})}
	return options
}

// advance lets time pass for the operator, but not for the store.
func (s *scene) advance(by time.Duration) { s.ahead.Add(int64(by)) }

// label sets a label of the namespace; an empty value removes it.
func (s *scene) label(name, value string) {
	s.t.Helper()
	var wanted any = value
	if value == "" {
		wanted = nil
	}
	patch, err := json.Marshal(map[string]any{"metadata": map[string]any{"labels": map[string]any{name: wanted}}})
	if err != nil {
		s.t.Fatal(err)
	}
	namespace := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: s.namespace}}
	if err := s.client.Patch(s.t.Context(), namespace, client.RawPatch("application/merge-patch+json", patch)); err != nil {
		s.t.Fatalf("label namespace: %v", err)
	}
}

// policy makes a policy for the pods labelled app=web: 10 requests an hour.
func (s *scene) policy(name string, changes ...func(*v1alpha1.RateLimitPolicy)) *v1alpha1.RateLimitPolicy {
	s.t.Helper()
	policy := &v1alpha1.RateLimitPolicy{
		ObjectMeta: metav1.ObjectMeta{Namespace: s.namespace, Name: name},
		Spec: v1alpha1.RateLimitPolicySpec{
			Selector: &metav1.LabelSelector{MatchLabels: map[string]string{"app": "web"}},
			PolicyRules: v1alpha1.PolicyRules{Rules: []v1alpha1.Rule{{
				Name:   "all",
				Limits: []v1alpha1.Limit{{Name: "hourly", Requests: 10, Window: "1h"}},
			}}},
		},
	}
	for _, change := range changes {
		change(policy)
	}
	create(s.t, s.client, policy)
	return policy
}

// edit changes a policy's spec.
func (s *scene) edit(policy *v1alpha1.RateLimitPolicy, change func(*v1alpha1.RateLimitPolicySpec)) {
	s.t.Helper()
	before := s.read(policy)
	after := before.DeepCopy()
	change(&after.Spec)
	if err := s.client.Patch(s.t.Context(), after, client.MergeFrom(before)); err != nil {
		s.t.Fatalf("edit policy %s: %v", policy.Name, err)
	}
}

func (s *scene) read(policy *v1alpha1.RateLimitPolicy) *v1alpha1.RateLimitPolicy {
	s.t.Helper()
	found := &v1alpha1.RateLimitPolicy{}
	if err := s.client.Get(s.t.Context(), client.ObjectKeyFromObject(policy), found); err != nil {
		s.t.Fatalf("read policy %s: %v", policy.Name, err)
	}
	return found
}

// pod makes a pod that has been ready for an hour, with a sidecar.
func (s *scene) pod(name string, changes ...func(*corev1.Pod)) *corev1.Pod {
	s.t.Helper()
	report, err := json.Marshal(v1alpha1.PodInjection{Injected: true, Ports: []v1alpha1.InterceptedPort{{Name: "http", Listen: 15480, App: 8080}}})
	if err != nil {
		s.t.Fatal(err)
	}
	pod := &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: s.namespace, Name: name, Labels: map[string]string{"app": "web"},
			Annotations: map[string]string{v1alpha1.AnnotationStatus: string(report)},
		},
		Spec: corev1.PodSpec{
			InitContainers: []corev1.Container{{
				Name: v1alpha1.SidecarContainerName, Image: "sidecar.example/penstock", RestartPolicy: new(corev1.ContainerRestartPolicyAlways),
			}},
			Containers: []corev1.Container{{Name: "app", Image: "app.example/web"}},
		},
	}
	for _, change := range changes {
		change(pod)
	}
	create(s.t, s.client, pod)
	pod.Status = corev1.PodStatus{Phase: corev1.PodRunning, Conditions: []corev1.PodCondition{{
		Type: corev1.PodReady, Status: corev1.ConditionTrue, LastTransitionTime: metav1.NewTime(time.Now().Add(-time.Hour)),
	}}}
	if err := s.client.Status().Update(s.t.Context(), pod); err != nil {
		s.t.Fatalf("make pod %s ready: %v", name, err)
	}
	return pod
}

func bare(pod *corev1.Pod) {
	pod.Spec.InitContainers, pod.Annotations = nil, nil
}

// acknowledge lets pods say that they run what is published now.
func (s *scene) acknowledge(pods ...*corev1.Pod) {
	s.t.Helper()
	published := s.published()
	for _, pod := range pods {
		s.acknowledgeAs(pod, store.Ack{Sequence: published.Sequence, Revision: published.Revision})
	}
}

func (s *scene) acknowledgeAs(pod *corev1.Pod, ack store.Ack) {
	s.t.Helper()
	ack.PodUID, ack.PodName, ack.Version = string(pod.UID), pod.Name, "test"
	if err := s.store.WriteAck(s.t.Context(), s.namespace, ack); err != nil {
		s.t.Fatal(err)
	}
}

// published is what stands in the store; its sequence is 0 if nothing does.
func (s *scene) published() ruleset.Published {
	s.t.Helper()
	published, err := s.store.Load(s.t.Context(), s.namespace)
	if err != nil {
		s.t.Fatal(err)
	}
	return published
}

// rules are the published policies as "name@generation: requests" of their first
// limits; nil if nothing stands in the store.
func (s *scene) rules() []string {
	s.t.Helper()
	published := s.published()
	if published.Sequence == 0 {
		return nil
	}
	return s.decodeRules(published)
}

func (s *scene) decodeRules(published ruleset.Published) []string {
	s.t.Helper()
	rs, err := ruleset.Decode(published.Body)
	if err != nil {
		s.t.Fatal(err)
	}
	rules := []string{}
	for _, policy := range rs.Policies {
		rules = append(rules, fmt.Sprintf("%s@%d: %d", policy.Name, policy.Generation, policy.Rules[0].Limits[0].Requests))
	}
	return rules
}

// condition is a policy's condition as Status/Reason.
func (s *scene) condition(policy *v1alpha1.RateLimitPolicy, kind string) string {
	s.t.Helper()
	return conditionOf(s.read(policy).Status.Conditions, kind)
}

func conditionOf(conditions []metav1.Condition, kind string) string {
	condition := meta.FindStatusCondition(conditions, kind)
	if condition == nil {
		return "absent"
	}
	return fmt.Sprintf("%s/%s", condition.Status, condition.Reason)
}

// message is that of a policy's condition.
func (s *scene) message(policy *v1alpha1.RateLimitPolicy, kind string) string {
	s.t.Helper()
	condition := meta.FindStatusCondition(s.read(policy).Status.Conditions, kind)
	if condition == nil {
		return ""
	}
	return condition.Message
}

// pods is the summary that kubectl shows, such as 7/8.
func (s *scene) pods(policy *v1alpha1.RateLimitPolicy) string {
	s.t.Helper()
	if counts := s.read(policy).Status.Pods; counts != nil {
		return counts.Summary
	}
	return ""
}
