// Copyright The Penstock Authors.
// SPDX-License-Identifier: Apache-2.0

package webhook

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	admissionv1 "k8s.io/api/admission/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/webhook/admission"

	"github.com/penstock-dev/penstock/internal/webhook/inject"
)

const webPod = `{"metadata":{"generateName":"web-"},"spec":{"containers":[{"name":"app","ports":[{"name":"http","containerPort":8080}]}]}}`

// recordedBundles remember for which namespaces a Secret was asked.
type recordedBundles struct {
	namespaces []string
	err        error
	panics     bool
}

func (b *recordedBundles) EnsureSidecarSecret(_ context.Context, namespace string) error {
	if b.panics {
		panic("out of order")
	}
	b.namespaces = append(b.namespaces, namespace)
	return b.err
}

func newInjector(t *testing.T, bundles Bundles, objects ...client.Object) *injector {
	t.Helper()
	scheme := runtime.NewScheme()
	if err := corev1.AddToScheme(scheme); err != nil {
		t.Fatal(err)
	}
	return &injector{
		reader:  fake.NewClientBuilder().WithScheme(scheme).WithObjects(objects...).Build(),
		bundles: bundles,
		own:     "penstock-system",
		options: inject.Options{Image: "sidecar.test/sidecar:v1", Version: "v1"},
	}
}

func requestFor(namespace, pod string, dryRun bool) admission.Request {
	return admission.Request{AdmissionRequest: admissionv1.AdmissionRequest{
		Namespace: namespace,
		DryRun:    &dryRun,
		Object:    runtime.RawExtension{Raw: []byte(pod)},
	}}
}

// TestEveryPodIsAdmitted covers all that can go wrong: none of it refuses a pod.
func TestEveryPodIsAdmitted(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		namespace, pod string
		dryRun         bool
		bundles        recordedBundles
		wantPatched    bool
		wantSecrets    []string
	}{
		"injected":               {namespace: "shop", pod: webPod, wantPatched: true, wantSecrets: []string{"shop"}},
		"dry run":                {namespace: "shop", pod: webPod, dryRun: true, wantPatched: true},
		"secret cannot be made":  {namespace: "shop", pod: webPod, bundles: recordedBundles{err: errors.New("no store")}, wantPatched: true, wantSecrets: []string{"shop"}},
		"panic":                  {namespace: "shop", pod: webPod, bundles: recordedBundles{panics: true}},
		"skipped, with a reason": {namespace: "shop", pod: strings.Replace(webPod, `"spec":{`, `"spec":{"hostNetwork":true,`, 1), wantPatched: true},
		"not a pod":              {namespace: "shop", pod: `{"spec":[]}`},
		"not JSON":               {namespace: "shop", pod: `{`},
		"nothing":                {namespace: "shop"},
		"own namespace":          {namespace: "penstock-system", pod: webPod},
		"kube-system":            {namespace: "kube-system", pod: webPod},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			response := newInjector(t, &tc.bundles).Handle(t.Context(), requestFor(tc.namespace, tc.pod, tc.dryRun))
			if !response.Allowed {
				t.Errorf("the pod is refused: %+v", response.Result)
			}
			if patched := len(response.Patch) > 0; patched != tc.wantPatched {
				t.Errorf("patched = %v, want %v: %s", patched, tc.wantPatched, response.Patch)
			}
			if diff := cmp.Diff(tc.wantSecrets, tc.bundles.namespaces); diff != "" {
				t.Errorf("namespaces for which a Secret was asked (-want +got):\n%s", diff)
			}
		})
	}
}

func TestQuotaOnLimitsGivesTheSidecarLimits(t *testing.T) {
	t.Parallel()
	quota := func(name corev1.ResourceName) *corev1.ResourceQuota {
		return &corev1.ResourceQuota{
			ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "q"},
			Spec:       corev1.ResourceQuotaSpec{Hard: corev1.ResourceList{name: resource.MustParse("8")}},
		}
	}
	tests := map[string]struct {
		quota *corev1.ResourceQuota
		want  inject.Namespace
	}{
		"cpu":      {quota(corev1.ResourceLimitsCPU), inject.Namespace{CPULimitRequired: true}},
		"memory":   {quota(corev1.ResourceLimitsMemory), inject.Namespace{MemoryLimitRequired: true}},
		"requests": {quota(corev1.ResourceRequestsCPU), inject.Namespace{}},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			i := newInjector(t, &recordedBundles{}, tc.quota)
			if got := i.namespace(t.Context(), "shop"); got != tc.want {
				t.Errorf("namespace = %+v, want %+v", got, tc.want)
			}
			if got := i.namespace(t.Context(), "other"); got != (inject.Namespace{}) {
				t.Errorf("another namespace = %+v, want nothing required", got)
			}
		})
	}
}

func TestOutdatedKubernetes(t *testing.T) {
	t.Parallel()
	tests := map[string]string{
		"": "", "v1.33.0": "", "v1.37.2": "", "v1.33.4-gke.100": "", "v1.34.1+k3s1": "",
		"v1.32.9": "v1.32.9", "v1.29.0-eks-1": "v1.29.0-eks-1",
	}
	for version, want := range tests {
		if got, err := outdatedKubernetes(version); got != want || err != nil {
			t.Errorf("outdatedKubernetes(%q) = %q, %v, want %q", version, got, err, want)
		}
	}
	if _, err := outdatedKubernetes("newest"); err == nil {
		t.Error("a version that is none is no error")
	}
}
