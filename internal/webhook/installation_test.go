// Copyright The Penstock Authors.
// SPDX-License-Identifier: Apache-2.0

package webhook_test

import (
	"context"
	"crypto/tls"
	"errors"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"testing"
	"time"

	"github.com/onsi/gomega"
	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/config"
	metricsserver "sigs.k8s.io/controller-runtime/pkg/metrics/server"
	ctrlwebhook "sigs.k8s.io/controller-runtime/pkg/webhook"

	"github.com/penstock-dev/penstock/api/v1alpha1"
	"github.com/penstock-dev/penstock/internal/webhook"
	"github.com/penstock-dev/penstock/internal/webhook/certificate"
	"github.com/penstock-dev/penstock/test/controlplane"
)

const operatorNamespace = "penstock-system"

// installation is config/default on a real API server, with the webhook served by
// this process under the rights of the operator's service account.
type installation struct {
	*controlplane.ControlPlane
	// operator is a client with the operator's rights.
	operator client.Client
	// stop ends the operator and returns once it has ended.
	stop func()
}

func install(t *testing.T) *installation {
	t.Helper()
	c := controlplane.Start(t, controlplane.Options{})
	root, err := controlplane.Root()
	if err != nil {
		t.Fatal(err)
	}
	build := exec.CommandContext(t.Context(), "go", "tool", "-modfile=go.tool.mod", "kustomize", "build", "config/default")
	build.Dir = root
	manifests, err := build.Output()
	if err != nil {
		exit, _ := errors.AsType[*exec.ExitError](err)
		t.Fatalf("kustomize build config/default: %v: %s", err, exit.Stderr)
	}
	path := filepath.Join(t.TempDir(), "default.yaml")
	if err := os.WriteFile(path, manifests, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := c.Kubectl(t, "apply", "--server-side", "--force-conflicts", "-f", path); err != nil {
		t.Fatalf("apply config/default: %v", err)
	}
	i := &installation{ControlPlane: c}
	i.startOperator(t)
	return i
}

// operatorConfig connects as the operator's service account: what its roles lack
// shows here.
func operatorConfig(admin *rest.Config) *rest.Config {
	own := rest.CopyConfig(admin)
	own.Impersonate = rest.ImpersonationConfig{
		UserName: "system:serviceaccount:" + operatorNamespace + ":penstock-manager",
		Groups:   []string{"system:serviceaccounts", "system:serviceaccounts:" + operatorNamespace, "system:authenticated"},
	}
	return own
}

func (i *installation) startOperator(t *testing.T) {
	t.Helper()
	own := operatorConfig(i.Config)
	var err error
	if i.operator, err = client.New(own, client.Options{Scheme: i.Environment.Scheme}); err != nil {
		t.Fatal(err)
	}
	port := i.redirectWebhook(t)
	rotator := certificate.New(certificate.Options{Namespace: operatorNamespace})
	mgr, err := ctrl.NewManager(own, ctrl.Options{
		Scheme:                 i.Environment.Scheme,
		Metrics:                metricsserver.Options{BindAddress: "0"},
		HealthProbeBindAddress: "0",
		Controller:             config.Controller{SkipNameValidation: new(true)},
		WebhookServer: ctrlwebhook.NewServer(ctrlwebhook.Options{
			Host: "127.0.0.1", Port: port, TLSOpts: []func(*tls.Config){rotator.TLS},
		}),
	})
	if err != nil {
		t.Fatal(err)
	}
	if err := rotator.SetupWithManager(mgr); err != nil {
		t.Fatal(err)
	}
	err = webhook.Setup(mgr, webhook.Options{
		Namespace: operatorNamespace, Bundles: emptyBundles{i.operator}, Image: "sidecar.test/sidecar:v1", Version: "v1", Kubernetes: "v1.37.2",
	})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- mgr.Start(ctx) }()
	stopped := false
	i.stop = func() {
		if stopped {
			return
		}
		stopped = true
		cancel()
		if err := <-ended; err != nil {
			t.Errorf("the operator ended with: %v", err)
		}
	}
	t.Cleanup(i.stop)
}

// redirectWebhook lets the API server call this process, by address instead of by
// Service, and returns the port that it will call.
func (i *installation) redirectWebhook(t *testing.T) int {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	port := listener.Addr().(*net.TCPAddr).Port
	listener.Close()
	registered := i.registration(t)
	for n := range registered.Webhooks {
		url := "https://127.0.0.1:" + strconv.Itoa(port) + *registered.Webhooks[n].ClientConfig.Service.Path
		registered.Webhooks[n].ClientConfig = admissionregistrationv1.WebhookClientConfig{URL: &url}
	}
	if err := i.Client.Update(t.Context(), registered); err != nil {
		t.Fatal(err)
	}
	return port
}

func (i *installation) registration(t *testing.T) *admissionregistrationv1.MutatingWebhookConfiguration {
	t.Helper()
	registered := &admissionregistrationv1.MutatingWebhookConfiguration{}
	if err := i.Client.Get(t.Context(), client.ObjectKey{Name: certificate.ConfigurationName}, registered); err != nil {
		t.Fatal(err)
	}
	return registered
}

// injectedNamespace makes a namespace with injection, and these labels besides.
func (i *installation) injectedNamespace(t *testing.T, labels map[string]string) string {
	t.Helper()
	all := map[string]string{v1alpha1.LabelInjection: "enabled"}
	for name, value := range labels {
		all[name] = value
	}
	return i.Namespace(t, all)
}

// awaitInjection returns once pods are injected: the registration reaches the API
// server's webhooks a moment after it is written.
func (i *installation) awaitInjection(t *testing.T) {
	t.Helper()
	namespace := i.injectedNamespace(t, nil)
	gomega.NewWithT(t).Eventually(func() bool {
		pod := webPod(namespace)
		return i.Client.Create(t.Context(), pod, client.DryRunAll) == nil && isInjected(pod)
	}).WithTimeout(30 * time.Second).WithPolling(100 * time.Millisecond).Should(gomega.BeTrue())
}

// emptyBundles make the Secret as the controllers do, but empty.
type emptyBundles struct{ client.Client }

func (b emptyBundles) EnsureSidecarSecret(ctx context.Context, namespace string) error {
	secret := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: v1alpha1.SidecarSecretName}}
	if err := b.Create(ctx, secret); err != nil && !apierrors.IsAlreadyExists(err) {
		return err
	}
	return nil
}
