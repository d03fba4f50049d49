// Copyright The Penstock Authors.
// SPDX-License-Identifier: Apache-2.0

package controllers

import (
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/penstock-dev/penstock/api/v1alpha1"
	"github.com/penstock-dev/penstock/internal/compile"
	"github.com/penstock-dev/penstock/internal/ruleset"
)

// resolveSection narrows a Service's pods to the port that a section names. A sidecar
// knows its app's ports by number, so that is what the port's targetPort must become:
// a number is one already. A name means what it means in each pod, where the sidecar's
// port has it now; the webhook's report says of which port of the app it is.
func resolveSection(resolved *compile.Resolved, service *corev1.Service, section string, pods []podView) {
	at := slices.IndexFunc(service.Spec.Ports, func(port corev1.ServicePort) bool { return port.Name == section && isTCP(port) })
	if at < 0 {
		resolved.NoSuchSection, resolved.Sections = true, sectionsOf(service)
		return
	}
	switch port := service.Spec.Ports[at]; {
	case port.TargetPort.Type == intstr.String:
		resolved.Ports = portsNamed(port.TargetPort.StrVal, pods, resolved.Selector)
	case port.TargetPort.IntVal == 0:
		resolved.Ports = []int32{port.Port}
	default:
		resolved.Ports = []int32{port.TargetPort.IntVal}
	}
}

// portsNamed are the numbers that a port's name means in the pods that are selected.
func portsNamed(name string, pods []podView, selector ruleset.Selector) []int32 {
	var numbers []int32
	for _, pod := range pods {
		if pod.report == nil || !selector.Selects(pod.labels) {
			continue
		}
		for _, port := range pod.report.Ports {
			if port.Name == name {
				numbers = append(numbers, port.App)
			}
		}
	}
	if len(numbers) == 0 {
		// Until a pod tells, there is none whose requests could be limited.
		return []int32{compile.NoPort}
	}
	slices.Sort(numbers)
	return slices.Compact(numbers)
}

// sectionsOf are the names of a Service's ports.
func sectionsOf(service *corev1.Service) []string {
	var names []string
	for _, port := range service.Spec.Ports {
		if port.Name != "" && isTCP(port) {
			names = append(names, port.Name)
		}
	}
	slices.Sort(names)
	return names
}

func isTCP(port corev1.ServicePort) bool {
	return port.Protocol == "" || port.Protocol == corev1.ProtocolTCP
}

// sectionsMissed names the pods of which a policy is for one port, through which no
// request passes a sidecar.
func sectionsMissed(pods []podView, selectors []ruleset.Selector) []string {
	var sentences []string
	for _, pod := range pods {
		if !pod.injected || pod.report == nil || !selects(selectors, pod.labels) || intercepts(pod, selectors) {
			continue
		}
		sentences = append(sentences, "the sidecar of pod "+pod.name+" does not stand before the port that sectionName means; "+
			"give the app's port a name such as http, or list it in the pod's annotation penstock.dev/ports, and have the Service's targetPort name it")
	}
	return sentences
}

// intercepts reports whether any port that the selectors are for passes the sidecar.
func intercepts(pod podView, selectors []ruleset.Selector) bool {
	return slices.ContainsFunc(selectors, func(selector ruleset.Selector) bool {
		if !selector.Selects(pod.labels) {
			return false
		}
		return selector.Port == 0 || slices.ContainsFunc(pod.report.Ports, func(port v1alpha1.InterceptedPort) bool { return port.App == selector.Port })
	})
}
