// Copyright The Penstock Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"testing"
	"time"

	"github.com/onsi/gomega"
	admissionv1 "k8s.io/api/admissionregistration/v1"
	corev1 "k8s.io/api/core/v1"
	eventsv1 "k8s.io/api/events/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/clientcmd"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/penstock-dev/penstock/api/v1alpha1"
	"github.com/penstock-dev/penstock/internal/webhook"
	"github.com/penstock-dev/penstock/internal/webhook/certificate"
	"github.com/penstock-dev/penstock/test/controlplane"
)

const (
	patience = 60 * time.Second
	look     = 200 * time.Millisecond
)

// TestOperatorServesEverything runs the whole operator on a real API server, with
// the rights that config/rbac gives it: the store in memory, a policy that is
// published to it, a pod that is admitted, and a namespace that leaves.
func TestOperatorServesEverything(t *testing.T) {
	t.Parallel()
	plane := controlplane.Start(t, controlplane.Options{})
	o := startOperator(t, plane)
	for _, object := range []client.Object{
		&admissionv1.MutatingWebhookConfiguration{
			ObjectMeta: metav1.ObjectMeta{Name: certificate.ConfigurationName},
			Webhooks: []admissionv1.MutatingWebhook{{
				Name:                    "pods.penstock.dev",
				ClientConfig:            admissionv1.WebhookClientConfig{URL: new(fmt.Sprintf("https://127.0.0.1:%d%s", o.webhookPort, webhook.Path))},
				AdmissionReviewVersions: []string{"v1"},
				SideEffects:             new(admissionv1.SideEffectClassNoneOnDryRun),
				FailurePolicy:           new(admissionv1.Fail),
				NamespaceSelector:       &metav1.LabelSelector{MatchLabels: map[string]string{v1alpha1.LabelInjection: "enabled"}},
				Rules: []admissionv1.RuleWithOperations{{
					Operations: []admissionv1.OperationType{admissionv1.Create},
					Rule:       admissionv1.Rule{APIGroups: []string{""}, APIVersions: []string{"v1"}, Resources: []string{"pods"}},
				}},
			}},
		},
		&corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "shop", Labels: map[string]string{v1alpha1.LabelInjection: "enabled"}}},
		&corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: defaultNamespace, Name: "sidecars"}},
		&v1alpha1.RateLimitStore{
			ObjectMeta: metav1.ObjectMeta{Name: v1alpha1.DefaultStoreName},
			Spec: v1alpha1.RateLimitStoreSpec{
				Addresses: []string{o.embeddedStore}, Isolation: v1alpha1.IsolationShared,
				SidecarCredentials: &v1alpha1.Credentials{SecretRef: v1alpha1.SecretReference{Name: "sidecars"}},
			},
		},
		&v1alpha1.RateLimitPolicy{
			ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "web"},
			Spec: v1alpha1.RateLimitPolicySpec{
				Selector: &metav1.LabelSelector{},
				PolicyRules: v1alpha1.PolicyRules{Rules: []v1alpha1.Rule{{
					Name: "all", Limits: []v1alpha1.Limit{{Name: "hourly", Requests: 10, Window: "1h"}},
				}}},
			},
		},
	} {
		if err := plane.Client.Create(t.Context(), object); err != nil {
			t.Fatalf("create %T: %v", object, err)
		}
	}
	g := gomega.NewWithT(t)
	g.Eventually(func() int { return readiness(t, o) }, patience, look).Should(gomega.Equal(http.StatusOK), "readiness")
	g.Eventually(func() bool { return programmed(t, plane.Client) }, patience, look).Should(gomega.BeTrue(), "policy programmed")
	g.Eventually(func() (string, error) { return admitPod(t, plane.Client) }, patience, look).
		Should(gomega.Equal(v1alpha1.SidecarContainerName), "first init container of an admitted pod")
	secret := &corev1.Secret{}
	if err := plane.Client.Get(t.Context(), client.ObjectKey{Namespace: "shop", Name: v1alpha1.SidecarSecretName}, secret); err != nil {
		t.Errorf("the Secret that the pod mounts: %v", err)
	}
	g.Eventually(func() (int, error) {
		events := &eventsv1.EventList{}
		err := plane.Client.List(t.Context(), events, client.InNamespace("shop"))
		return len(events.Items), err
	}, patience, look).Should(gomega.BeNumerically(">", 0), "events in the namespace")
	leave(t, plane.Client)
	g.Eventually(func() bool {
		return apierrors.IsNotFound(plane.Client.Get(t.Context(), client.ObjectKeyFromObject(secret), secret))
	}, patience, look).Should(gomega.BeTrue(), "no Secret in a namespace without sidecars")
}

// leave takes the namespace out of injection, with its policy and pods.
func leave(t *testing.T, writer client.Client) {
	t.Helper()
	namespace := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "shop"}}
	unlabel := client.RawPatch(types.MergePatchType, []byte(`{"metadata":{"labels":{"`+v1alpha1.LabelInjection+`":null}}}`))
	for what, err := range map[string]error{
		"unlabel":       writer.Patch(t.Context(), namespace, unlabel),
		"delete policy": writer.Delete(t.Context(), &v1alpha1.RateLimitPolicy{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "web"}}),
		"delete pods":   writer.DeleteAllOf(t.Context(), &corev1.Pod{}, client.InNamespace("shop"), client.GracePeriodSeconds(0)),
	} {
		if err != nil {
			t.Fatalf("%s: %v", what, err)
		}
	}
}

// startOperator runs an operator on free ports until the test ends.
func startOperator(t *testing.T, plane *controlplane.ControlPlane) *options {
	t.Helper()
	if err := plane.Client.Create(t.Context(), &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: defaultNamespace}}); err != nil {
		t.Fatal(err)
	}
	applyRights(t, plane)
	ports := freePorts(t, 3)
	o, err := parseFlags([]string{
		"--kubeconfig=" + operatorKubeconfig(t, plane), "--sidecar-image=example/sidecar", "--leader-elect",
		"--embedded-store=127.0.0.1:" + ports[0], "--webhook-port=" + ports[1],
		"--health-probe-bind-address=127.0.0.1:" + ports[2], "--metrics-bind-address=0",
	}, func(string) string { return "" }, io.Discard)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- operate(ctx, o) }()
	t.Cleanup(func() {
		cancel()
		if err := <-done; err != nil {
			t.Errorf("operator: %v", err)
		}
	})
	return o
}

// applyRights installs config/rbac.
func applyRights(t *testing.T, plane *controlplane.ControlPlane) {
	t.Helper()
	root, err := controlplane.Root()
	if err != nil {
		t.Fatal(err)
	}
	build := exec.CommandContext(t.Context(), "go", "tool", "-modfile=go.tool.mod", "kustomize", "build", "config/rbac")
	build.Dir = root
	manifests, err := build.Output()
	if err != nil {
		t.Fatalf("kustomize build config/rbac: %v", err)
	}
	path := filepath.Join(t.TempDir(), "rbac.yaml")
	if err := os.WriteFile(path, manifests, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := plane.Kubectl(t, "apply", "--server-side", "-f", path); err != nil {
		t.Fatal(err)
	}
}

// operatorKubeconfig connects as the operator's service account.
func operatorKubeconfig(t *testing.T, plane *controlplane.ControlPlane) string {
	t.Helper()
	path := plane.Kubeconfig(t)
	config, err := clientcmd.LoadFromFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for _, user := range config.AuthInfos {
		user.Impersonate = "system:serviceaccount:" + defaultNamespace + ":penstock-manager"
		user.ImpersonateGroups = []string{"system:serviceaccounts", "system:serviceaccounts:" + defaultNamespace, "system:authenticated"}
	}
	if err := clientcmd.WriteToFile(*config, path); err != nil {
		t.Fatal(err)
	}
	return path
}

func freePorts(t *testing.T, count int) []string {
	t.Helper()
	ports := make([]string, count)
	for i := range ports {
		// All are held until the last is found, so that none is given twice.
		listener, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = listener.Close() }()
		ports[i] = strconv.Itoa(listener.Addr().(*net.TCPAddr).Port)
	}
	return ports
}

func readiness(t *testing.T, o *options) int {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "http://"+o.health+"/readyz", nil)
	if err != nil {
		t.Fatal(err)
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return 0
	}
	_ = response.Body.Close()
	return response.StatusCode
}

func programmed(t *testing.T, reader client.Client) bool {
	t.Helper()
	policy := &v1alpha1.RateLimitPolicy{}
	if err := reader.Get(t.Context(), client.ObjectKey{Namespace: "shop", Name: "web"}, policy); err != nil {
		t.Fatal(err)
	}
	return meta.IsStatusConditionTrue(policy.Status.Conditions, v1alpha1.ConditionProgrammed)
}

// admitPod returns the name of a new pod's first init container.
func admitPod(t *testing.T, writer client.Client) (string, error) {
	t.Helper()
	pod := &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Namespace: "shop", GenerateName: "web-"},
		Spec: corev1.PodSpec{Containers: []corev1.Container{{
			Name: "app", Image: "example/web", Ports: []corev1.ContainerPort{{Name: "http", ContainerPort: 8080}},
		}}},
	}
	if err := writer.Create(t.Context(), pod); err != nil {
		return "", err
	}
	if len(pod.Spec.InitContainers) == 0 {
		return "", nil
	}
	return pod.Spec.InitContainers[0].Name, nil
}
