// Copyright The Penstock Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"crypto/tls"
	"fmt"
	"time"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/discovery"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/healthz"
	metricsserver "sigs.k8s.io/controller-runtime/pkg/metrics/server"
	webhookserver "sigs.k8s.io/controller-runtime/pkg/webhook"

	"github.com/penstock-dev/penstock/api/v1alpha1"
	"github.com/penstock-dev/penstock/controllers"
	"github.com/penstock-dev/penstock/internal/embedded"
	"github.com/penstock-dev/penstock/internal/webhook"
	"github.com/penstock-dev/penstock/internal/webhook/certificate"
)

// The lease is generous: the default of 15 s is lost whenever the API server is
// slow for a moment, and nothing in a pod waits for the operator. It is given back
// on exit, so that a rollout does not wait for it either.
const (
	leaseName     = "penstock-manager"
	leaseDuration = 60 * time.Second
	renewDeadline = 40 * time.Second
	retryPeriod   = 5 * time.Second
)

// operate runs the operator until the context ends.
func operate(ctx context.Context, o *options) error {
	if o.embeddedStore != "" {
		store, err := embedded.Start(o.embeddedStore)
		if err != nil {
			return err
		}
		defer store.Close()
		ctrl.Log.Info("Serving the embedded store, for trying things out: all counts are gone when the operator stops", "address", store.Addr())
	}
	config, err := ctrl.GetConfig()
	if err != nil {
		return fmt.Errorf("find the API server: %w; set KUBECONFIG or --kubeconfig, or run in a pod", err)
	}
	// The API server's own fairness bounds the operator, and the controllers bound
	// what an outage causes. A limit of the client would only delay status.
	config.QPS = -1
	mgr, err := newManager(config, o)
	if err != nil {
		return err
	}
	ctrl.Log.Info("Starting operator", "version", version, "namespace", o.namespace, "sidecarImage", o.sidecarImage)
	if err := mgr.Start(ctx); err != nil {
		return fmt.Errorf("run the operator: %w", err)
	}
	return nil
}

// newManager wires everything together.
func newManager(config *rest.Config, o *options) (ctrl.Manager, error) {
	scheme, err := newScheme()
	if err != nil {
		return nil, err
	}
	certificates := certificate.New(certificate.Options{Namespace: o.namespace})
	mgr, err := ctrl.NewManager(config, ctrl.Options{
		Scheme:                        scheme,
		Cache:                         controllers.CacheOptions(),
		Metrics:                       metricsserver.Options{BindAddress: o.metrics},
		HealthProbeBindAddress:        o.health,
		LeaderElection:                o.leaderElect,
		LeaderElectionID:              leaseName,
		LeaderElectionNamespace:       o.namespace,
		LeaderElectionReleaseOnCancel: true,
		LeaseDuration:                 new(leaseDuration),
		RenewDeadline:                 new(renewDeadline),
		RetryPeriod:                   new(retryPeriod),
		WebhookServer: webhookserver.NewServer(webhookserver.Options{
			Port: o.webhookPort, TLSOpts: []func(*tls.Config){certificates.TLS},
		}),
	})
	if err != nil {
		return nil, fmt.Errorf("make the manager: %w", err)
	}
	if err := mgr.AddHealthzCheck("ping", healthz.Ping); err != nil {
		return nil, fmt.Errorf("add health check: %w", err)
	}
	if err := certificates.SetupWithManager(mgr); err != nil {
		return nil, err
	}
	secrets, err := controllers.Setup(mgr, controllers.Options{Namespace: o.namespace})
	if err != nil {
		return nil, err
	}
	return mgr, setUpWebhook(mgr, config, o, secrets)
}

func setUpWebhook(mgr ctrl.Manager, config *rest.Config, o *options, secrets *controllers.SidecarSecrets) error {
	client, err := discovery.NewDiscoveryClientForConfig(config)
	if err != nil {
		return fmt.Errorf("make a discovery client: %w", err)
	}
	kubernetes, err := client.ServerVersion()
	if err != nil {
		return fmt.Errorf("ask the API server for its version: %w", err)
	}
	return webhook.Setup(mgr, webhook.Options{
		Namespace:  o.namespace,
		Bundles:    secrets,
		Image:      o.sidecarImage,
		Version:    version,
		Kubernetes: kubernetes.GitVersion,

		SidecarArguments: o.sidecarArguments,
	})
}

func newScheme() (*runtime.Scheme, error) {
	scheme := runtime.NewScheme()
	if err := clientgoscheme.AddToScheme(scheme); err != nil {
		return nil, fmt.Errorf("add the kinds of Kubernetes: %w", err)
	}
	if err := v1alpha1.AddToScheme(scheme); err != nil {
		return nil, fmt.Errorf("add the kinds of Penstock: %w", err)
	}
	return scheme, nil
}
