// Copyright The Penstock Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"time"

	admissionv1 "k8s.io/api/admissionregistration/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/wait"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"
)

const (
	operatorNamespace = "penstock-system"
	webhookFile       = "config/webhook/mutating_webhook.yaml"
)

// startOperator runs the manager outside the cluster and returns the address of
// the store that it serves.
func startOperator(ctx context.Context, c *cluster, p *processes, bin, scratch string) (string, error) {
	addresses, err := freeAddresses(3)
	if err != nil {
		return "", err
	}
	store, health, webhook := addresses[0], addresses[1], addresses[2]
	namespace := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: operatorNamespace}}
	if err := c.client.Create(ctx, namespace); err != nil {
		return "", fmt.Errorf("create namespace %s: %w", operatorNamespace, err)
	}
	if err := applyWebhook(ctx, c.client, webhook); err != nil {
		return "", err
	}
	_, webhookPort, _ := net.SplitHostPort(webhook)
	err = p.start("operator", filepath.Join(bin, "manager"), []string{
		"--embedded-store=" + store, "--namespace=" + operatorNamespace, "--webhook-port=" + webhookPort,
		"--health-probe-bind-address=" + health, "--metrics-bind-address=0", "--sidecar-image=demo/sidecar",
	}, []string{"KUBECONFIG=" + c.kubeconfig, "HOME=" + scratch, "PATH=" + os.Getenv("PATH")})
	if err != nil {
		return "", err
	}
	return store, waitForOperator(ctx, c.client, health)
}

// applyWebhook registers the webhook as an installation does, but by URL: there
// is no Service that would lead out of this API server.
func applyWebhook(ctx context.Context, c client.Client, address string) error {
	text, err := os.ReadFile(webhookFile)
	if err != nil {
		return err
	}
	var configuration admissionv1.MutatingWebhookConfiguration
	if err := yaml.UnmarshalStrict(text, &configuration); err != nil {
		return fmt.Errorf("read %s: %w", webhookFile, err)
	}
	for i := range configuration.Webhooks {
		service := configuration.Webhooks[i].ClientConfig.Service
		url := "https://" + address + *service.Path
		configuration.Webhooks[i].ClientConfig = admissionv1.WebhookClientConfig{URL: &url}
		// Without the operator's certificate no pod may slip through here.
		fail := admissionv1.Fail
		configuration.Webhooks[i].FailurePolicy = &fail
	}
	if err := c.Create(ctx, &configuration); err != nil {
		return fmt.Errorf("register the webhook: %w", err)
	}
	return nil
}

// waitForOperator waits until the operator is ready and has put its certificate
// authority into the webhook's registration.
func waitForOperator(ctx context.Context, c client.Client, health string) error {
	err := wait.PollUntilContextTimeout(ctx, 100*time.Millisecond, 60*time.Second, true, func(ctx context.Context) (bool, error) {
		var configuration admissionv1.MutatingWebhookConfiguration
		if err := c.Get(ctx, client.ObjectKey{Name: "penstock"}, &configuration); err != nil {
			return false, err
		}
		for _, webhook := range configuration.Webhooks {
			if len(webhook.ClientConfig.CABundle) == 0 {
				return false, nil
			}
		}
		return succeeds(ctx, "http://"+health+"/readyz"), nil
	})
	if err != nil {
		return fmt.Errorf("the operator did not become ready: %w", err)
	}
	return nil
}
