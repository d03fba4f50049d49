// Copyright The Penstock Authors.
// SPDX-License-Identifier: Apache-2.0

package controllers

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/penstock-dev/penstock/internal/ruleset"
)

// notIntercepted names the Services through which requests reach the app's port of
// a selected pod past its sidecar: those that target the port by its number, and
// headless ones, whose callers choose the port.
func notIntercepted(services []corev1.Service, pods []podView, selectors []ruleset.Selector) []string {
	var sentences []string
	for i := range services {
		service := &services[i]
		if len(service.Spec.Selector) == 0 {
			continue
		}
		selector := ruleset.Selector{MatchLabels: service.Spec.Selector}
		for _, pod := range pods {
			if !pod.injected || pod.report == nil || !selects(selectors, pod.labels) || !selector.Selects(pod.labels) {
				continue
			}
			if sentence := wayAround(service, pod); sentence != "" {
				sentences = append(sentences, sentence)
				break
			}
		}
	}
	return sentences
}

func wayAround(service *corev1.Service, pod podView) string {
	for _, intercepted := range pod.report.Ports {
		for _, port := range service.Spec.Ports {
			if service.Spec.ClusterIP == corev1.ClusterIPNone && port.Port == intercepted.App {
				return fmt.Sprintf("service %s is headless: its callers dial port %d of the app past the sidecar; "+
					"give them a Service with a cluster IP and targetPort %s", service.Name, intercepted.App, intercepted.Name)
			}
			if targets(port, intercepted.App) {
				return fmt.Sprintf("service %s targets port %d of the app by number, past the sidecar; set its targetPort to %s",
					service.Name, intercepted.App, intercepted.Name)
			}
		}
	}
	return ""
}

// targets reports whether a Service's port leads to a container port by number. An
// absent targetPort is the same number as port.
func targets(port corev1.ServicePort, number int32) bool {
	if !isTCP(port) || port.TargetPort.Type != intstr.Int {
		return false
	}
	if port.TargetPort.IntVal == 0 {
		return port.Port == number
	}
	return port.TargetPort.IntVal == number
}
