// Copyright The Penstock Authors.
// SPDX-License-Identifier: Apache-2.0

package inject

import (
	"slices"
	"strconv"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/penstock-dev/penstock/api/v1alpha1"
)

// speaksHTTP is the rule by which a declared port's name says that it serves HTTP
// without TLS, of any version. Names such as https, grpcs-api, web-tls or
// http-metrics say the opposite, or that what is served are not the app's requests.
func speaksHTTP(name string) bool {
	for _, other := range []string{"https", "tls", "grpcs", "webhook", "metrics"} {
		if strings.Contains(name, other) {
			return false
		}
	}
	for _, known := range []string{"http", "http2", "h2c", "grpc", "web"} {
		if name == known || strings.HasPrefix(name, known+"-") {
			return true
		}
	}
	return false
}

// portsToIntercept are the ports whose requests are to pass through the sidecar,
// each with its name and the app's number: those that the pod's annotation lists,
// else those whose names say HTTP. Of several ports of a name it is the one to
// which Kubernetes resolves that name.
func portsToIntercept(pod *corev1.Pod) ([]v1alpha1.InterceptedPort, refusal) {
	named := namedPorts(pod)
	list, annotated := pod.Annotations[v1alpha1.AnnotationPorts]
	if !annotated {
		chosen := slices.DeleteFunc(named, func(p v1alpha1.InterceptedPort) bool { return !speaksHTTP(p.Name) })
		return chosen, noneIsRefused(chosen)
	}
	var chosen []v1alpha1.InterceptedPort
	for entry := range strings.SplitSeq(list, ",") {
		entry = strings.TrimSpace(entry)
		if entry == "" {
			continue
		}
		i := slices.IndexFunc(named, func(p v1alpha1.InterceptedPort) bool {
			return p.Name == entry || strconv.Itoa(int(p.App)) == entry
		})
		if i < 0 {
			return nil, refusal{ReasonUnknownPort, strconv.Quote(entry)}
		}
		if !slices.Contains(chosen, named[i]) {
			chosen = append(chosen, named[i])
		}
	}
	return chosen, noneIsRefused(chosen)
}

func noneIsRefused(ports []v1alpha1.InterceptedPort) refusal {
	if len(ports) == 0 {
		return refusal{reason: ReasonNoHTTPPorts}
	}
	return refusal{}
}

// namedPorts are the TCP ports with names, each name once, as Kubernetes resolves it.
func namedPorts(pod *corev1.Pod) []v1alpha1.InterceptedPort {
	var named []v1alpha1.InterceptedPort
	seen := map[string]bool{}
	for _, place := range places(pod) {
		for _, port := range place.container.Ports {
			if !place.running || !servesTCP(port) || port.Name == "" || seen[port.Name] {
				continue
			}
			seen[port.Name] = true
			named = append(named, v1alpha1.InterceptedPort{Name: port.Name, App: port.ContainerPort})
		}
	}
	return named
}
