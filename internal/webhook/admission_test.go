// Copyright The Penstock Authors.
// SPDX-License-Identifier: Apache-2.0

package webhook_test

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/onsi/gomega"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/penstock-dev/penstock/api/v1alpha1"
	"github.com/penstock-dev/penstock/internal/webhook/inject"
)

// TestAdmissionOnARealAPIServer goes through one installation in order; the last
// step ends the operator.
func TestAdmissionOnARealAPIServer(t *testing.T) {
	i := install(t)
	i.awaitInjection(t)
	steps := []struct {
		name string
		run  func(*testing.T, *installation)
	}{
		{"pods of a template are injected", podsOfATemplate},
		{"a restricted namespace takes injected pods", restrictedNamespace},
		{"a quota on limits takes injected pods", quotaOnLimits},
		{"a dry run creates no Secret", dryRun},
		{"a pod that cannot be injected says why", skippedPod},
		{"only the right namespaces and pods are touched", whoIsTouched},
		{"a wiped caBundle is put back", wipedBundle},
		{"the operator creates no other Secret elsewhere", otherSecrets},
		{"pods are admitted while the operator is down", operatorDown},
	}
	for _, step := range steps {
		t.Run(step.name, func(t *testing.T) { step.run(t, i) })
	}
}

// webPod is a pod as a ReplicaSet creates it: with a name to be generated.
func webPod(namespace string) *corev1.Pod {
	return &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: namespace, GenerateName: "web-5d4f8c7b9-",
			OwnerReferences: []metav1.OwnerReference{{APIVersion: "apps/v1", Kind: "ReplicaSet", Name: "web-5d4f8c7b9", UID: "1", Controller: new(true)}},
		},
		Spec: corev1.PodSpec{
			SecurityContext: &corev1.PodSecurityContext{
				RunAsNonRoot: new(true), RunAsUser: new(int64(1000)),
				SeccompProfile: &corev1.SeccompProfile{Type: corev1.SeccompProfileTypeRuntimeDefault},
			},
			Containers: []corev1.Container{{
				Name: "app", Image: "app.test/app:v1",
				Ports: []corev1.ContainerPort{{Name: "http", ContainerPort: 8080}},
				SecurityContext: &corev1.SecurityContext{
					AllowPrivilegeEscalation: new(false), Capabilities: &corev1.Capabilities{Drop: []corev1.Capability{"ALL"}},
				},
			}},
		},
	}
}

func isInjected(pod *corev1.Pod) bool {
	return len(pod.Spec.InitContainers) == 1 && pod.Spec.InitContainers[0].Name == v1alpha1.SidecarContainerName
}

func report(t *testing.T, pod *corev1.Pod) v1alpha1.PodInjection {
	t.Helper()
	var report v1alpha1.PodInjection
	if err := json.Unmarshal([]byte(pod.Annotations[v1alpha1.AnnotationStatus]), &report); err != nil {
		t.Fatalf("annotation %s = %q: %v", v1alpha1.AnnotationStatus, pod.Annotations[v1alpha1.AnnotationStatus], err)
	}
	return report
}

func create(t *testing.T, i *installation, pod *corev1.Pod, options ...client.CreateOption) *corev1.Pod {
	t.Helper()
	if err := i.Client.Create(t.Context(), pod, options...); err != nil {
		t.Fatalf("create pod: %v", err)
	}
	return pod
}

func hasSecret(t *testing.T, i *installation, namespace string) bool {
	t.Helper()
	err := i.Client.Get(t.Context(), client.ObjectKey{Namespace: namespace, Name: v1alpha1.SidecarSecretName}, &corev1.Secret{})
	if client.IgnoreNotFound(err) != nil {
		t.Fatal(err)
	}
	return err == nil
}

func podsOfATemplate(t *testing.T, i *installation) {
	namespace := i.injectedNamespace(t, nil)
	for range 2 {
		pod := create(t, i, webPod(namespace))
		if !isInjected(pod) {
			t.Fatalf("no sidecar in the pod: %+v", pod.Annotations)
		}
		if got := report(t, pod); !got.Injected || len(got.Ports) != 1 {
			t.Errorf("report = %+v, want one port injected", got)
		}
		if name := pod.Spec.Containers[0].Ports[0].Name; name != "app-8080" {
			t.Errorf("the app's port is called %q, want app-8080", name)
		}
		if port := pod.Spec.InitContainers[0].Ports[0]; port.Name != "http" {
			t.Errorf("the sidecar's port is called %q, want http", port.Name)
		}
	}
	if !hasSecret(t, i, namespace) {
		t.Error("the namespace's first pod was admitted without its Secret")
	}
}

func restrictedNamespace(t *testing.T, i *installation) {
	namespace := i.injectedNamespace(t, map[string]string{"pod-security.kubernetes.io/enforce": "restricted"})
	if pod := create(t, i, webPod(namespace)); !isInjected(pod) {
		t.Error("no sidecar in the pod")
	}
}

func quotaOnLimits(t *testing.T, i *installation) {
	namespace := i.injectedNamespace(t, nil)
	hard := corev1.ResourceList{corev1.ResourceLimitsCPU: resource.MustParse("4"), corev1.ResourceLimitsMemory: resource.MustParse("4Gi")}
	quota := &corev1.ResourceQuota{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "limits"}, Spec: corev1.ResourceQuotaSpec{Hard: hard}}
	if err := i.Client.Create(t.Context(), quota); err != nil {
		t.Fatal(err)
	}
	// There is no quota controller here to count what is used.
	quota.Status = corev1.ResourceQuotaStatus{Hard: hard, Used: corev1.ResourceList{
		corev1.ResourceLimitsCPU: resource.MustParse("0"), corev1.ResourceLimitsMemory: resource.MustParse("0"),
	}}
	if err := i.Client.Status().Update(t.Context(), quota); err != nil {
		t.Fatal(err)
	}
	gomega.NewWithT(t).Eventually(func() error {
		pod := webPod(namespace)
		pod.Spec.Containers[0].Resources.Limits = corev1.ResourceList{
			corev1.ResourceCPU: resource.MustParse("1"), corev1.ResourceMemory: resource.MustParse("1Gi"),
		}
		pod.Spec.Containers[0].Resources.Requests = corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("100m")}
		return i.Client.Create(t.Context(), pod)
	}).WithTimeout(20 * time.Second).WithPolling(100 * time.Millisecond).Should(gomega.Succeed())
}

func dryRun(t *testing.T, i *installation) {
	namespace := i.injectedNamespace(t, nil)
	if pod := create(t, i, webPod(namespace), client.DryRunAll); !isInjected(pod) {
		t.Error("no sidecar in the pod of a dry run")
	}
	if hasSecret(t, i, namespace) {
		t.Error("a dry run created the namespace's Secret")
	}
}

func skippedPod(t *testing.T, i *installation) {
	pod := webPod(i.injectedNamespace(t, nil))
	pod.Spec.HostNetwork = true
	pod.Spec.Containers[0].Ports[0].HostPort = 8080
	create(t, i, pod)
	if got := report(t, pod); isInjected(pod) || got.Reason != inject.ReasonHostNetwork || got.Message == "" {
		t.Errorf("report = %+v, want reason %s with a message", got, inject.ReasonHostNetwork)
	}
}

func whoIsTouched(t *testing.T, i *installation) {
	silent := i.Namespace(t, nil)
	disabled := i.Namespace(t, map[string]string{v1alpha1.LabelInjection: "disabled"})
	enabled := i.injectedNamespace(t, nil)
	for _, protected := range []string{"kube-system", operatorNamespace} {
		patch := client.RawPatch("application/merge-patch+json", []byte(`{"metadata":{"labels":{"`+v1alpha1.LabelInjection+`":"enabled"}}}`))
		if err := i.Client.Patch(t.Context(), &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: protected}}, patch); err != nil {
			t.Fatal(err)
		}
	}
	tests := map[string]struct {
		namespace, inject string
		want              bool
	}{
		"enabled":             {enabled, "", true},
		"enabled, opted in":   {enabled, "true", true},
		"enabled, opted out":  {enabled, "false", false},
		"silent":              {silent, "", false},
		"silent, opted in":    {silent, "true", true},
		"disabled, opted in":  {disabled, "true", false},
		"kube-system":         {"kube-system", "true", false},
		"operator's, enabled": {operatorNamespace, "true", false},
	}
	for name, tc := range tests {
		pod := webPod(tc.namespace)
		if tc.inject != "" {
			pod.Labels = map[string]string{v1alpha1.LabelInject: tc.inject}
		}
		if got := isInjected(create(t, i, pod, client.DryRunAll)); got != tc.want {
			t.Errorf("%s: injected = %v, want %v", name, got, tc.want)
		}
	}
}

func wipedBundle(t *testing.T, i *installation) {
	registered := i.registration(t)
	for n := range registered.Webhooks {
		if len(registered.Webhooks[n].ClientConfig.CABundle) == 0 {
			t.Fatal("there is no caBundle to wipe")
		}
		registered.Webhooks[n].ClientConfig.CABundle = nil
	}
	if err := i.Client.Update(t.Context(), registered); err != nil {
		t.Fatal(err)
	}
	// Sooner than the poll, since the registration is watched.
	gomega.NewWithT(t).Eventually(func() bool {
		for _, hook := range i.registration(t).Webhooks {
			if len(hook.ClientConfig.CABundle) == 0 {
				return false
			}
		}
		return true
	}).WithTimeout(8 * time.Second).WithPolling(20 * time.Millisecond).Should(gomega.BeTrue())
	i.awaitInjection(t)
}

func otherSecrets(t *testing.T, i *installation) {
	namespace := i.Namespace(t, nil)
	secret := func(namespace, name string, kind corev1.SecretType) *corev1.Secret {
		return &corev1.Secret{
			ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name, Annotations: map[string]string{corev1.ServiceAccountNameKey: "default"}},
			Type:       kind,
		}
	}
	refused := map[string]*corev1.Secret{
		"a token of a service account": secret(namespace, v1alpha1.SidecarSecretName, corev1.SecretTypeServiceAccountToken),
		"another name":                 secret(namespace, "other", corev1.SecretTypeOpaque),
	}
	for name, object := range refused {
		// The policy takes effect a moment after it is installed.
		gomega.NewWithT(t).Eventually(func() bool {
			return apierrors.IsForbidden(i.operator.Create(t.Context(), object.DeepCopy(), client.DryRunAll))
		}).WithTimeout(20*time.Second).WithPolling(100*time.Millisecond).Should(gomega.BeTrue(), name)
	}
	for _, object := range []*corev1.Secret{
		secret(namespace, v1alpha1.SidecarSecretName, corev1.SecretTypeOpaque),
		secret(operatorNamespace, "penstock-identity", corev1.SecretTypeOpaque),
	} {
		if err := i.operator.Create(t.Context(), object, client.DryRunAll); err != nil {
			t.Errorf("the operator may not create secret %s/%s: %v", object.Namespace, object.Name, err)
		}
	}
	if err := i.operator.Get(t.Context(), client.ObjectKey{Namespace: namespace, Name: "other"}, &corev1.Secret{}); !apierrors.IsForbidden(err) {
		t.Errorf("reading another Secret of another namespace: %v, want Forbidden", err)
	}
}

func operatorDown(t *testing.T, i *installation) {
	namespace := i.injectedNamespace(t, nil)
	i.stop()
	if pod := create(t, i, webPod(namespace)); isInjected(pod) || pod.Annotations[v1alpha1.AnnotationStatus] != "" {
		t.Error("the pod was injected although the operator is down")
	}
}
