// Copyright The Penstock Authors.
// SPDX-License-Identifier: Apache-2.0

package webhook

import (
	"context"
	"errors"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/version"
	"sigs.k8s.io/controller-runtime/pkg/manager"
	"sigs.k8s.io/controller-runtime/pkg/webhook/admission"

	"github.com/penstock-dev/penstock/internal/webhook/inject"
)

// Path is where the API server sends pods.
const Path = "/mutate--v1-pod"

// oldestKubernetes is the first version whose EndpointSlices resolve named ports of
// native sidecars (kubernetes/kubernetes#128850).
const oldestKubernetes = "1.33.0"

// Options say what is injected. All but Resources and Kubernetes are required.
type Options struct {
	// Namespace is the operator's own.
	Namespace string
	// Bundles make the Secret of a namespace before its first pod is admitted.
	Bundles Bundles
	// Image is the sidecar's image.
	Image string
	// SidecarArguments are further flags of all sidecars.
	SidecarArguments []string
	// Version is the operator's.
	Version string
	// Kubernetes is the API server's version, for example v1.37.2. On one before
	// 1.33 nothing is injected, reason UnsupportedVersion; absent is not checked.
	Kubernetes string
	// Resources are the sidecar's; zero values take the defaults.
	Resources inject.Resources
}

// Setup registers the webhook with the manager's webhook server. The server's TLS
// is package certificate's.
func Setup(mgr manager.Manager, options Options) error {
	if options.Namespace == "" || options.Bundles == nil || options.Image == "" {
		return errors.New("set up webhook: namespace, bundles and image are required; is the sidecar's image set (--sidecar-image)?")
	}
	outdated, err := outdatedKubernetes(options.Kubernetes)
	if err != nil {
		return err
	}
	if err := register(injections); err != nil {
		return err
	}
	// Started with the manager rather than by the first pod, which would wait.
	if _, err := mgr.GetCache().GetInformer(context.Background(), &corev1.ResourceQuota{}); err != nil {
		return fmt.Errorf("watch resourcequotas: %w", err)
	}
	mgr.GetWebhookServer().Register(Path, &admission.Webhook{Handler: &injector{
		reader:  mgr.GetClient(),
		bundles: options.Bundles,
		own:     options.Namespace,
		options: inject.Options{
			Image:              options.Image,
			Arguments:          options.SidecarArguments,
			Version:            options.Version,
			OutdatedKubernetes: outdated,
			Resources:          options.Resources,
		},
	}})
	return nil
}

// outdatedKubernetes is the version if it is too old for injection, else empty.
func outdatedKubernetes(kubernetes string) (string, error) {
	if kubernetes == "" {
		return "", nil
	}
	running, err := version.ParseGeneric(kubernetes)
	if err != nil {
		return "", fmt.Errorf("read the API server's version %q: %w", kubernetes, err)
	}
	if running.AtLeast(version.MustParseGeneric(oldestKubernetes)) {
		return "", nil
	}
	return kubernetes, nil
}
