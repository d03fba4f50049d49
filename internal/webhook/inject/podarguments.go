// Copyright The Penstock Authors.
// SPDX-License-Identifier: Apache-2.0

package inject

import (
	"net/netip"
	"slices"
	"strconv"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/penstock-dev/penstock/api/v1alpha1"
)

// forwardedForFlag and appHostFlag are flags of the sidecar that a pod may set.
const (
	forwardedForFlag = "--forwarded-for="
	appHostFlag      = "--app-host="
)

// podArguments are the sidecar's arguments that the pod's annotations ask for.
func podArguments(pod *corev1.Pod) (arguments []string, why refusal) {
	if how, asked := pod.Annotations[v1alpha1.AnnotationForwardedFor]; asked {
		if how != "Append" && how != "Preserve" {
			return nil, refusal{ReasonForwardedFor, strconv.Quote(how)}
		}
		arguments = append(arguments, forwardedForFlag+how)
	}
	if host, asked := pod.Annotations[v1alpha1.AnnotationAppHost]; asked {
		if !isAppHost(host) {
			return nil, refusal{ReasonAppHost, strconv.Quote(host)}
		}
		arguments = append(arguments, appHostFlag+host)
	}
	return arguments, refusal{}
}

// isAppHost reports whether a connection to an address can be one to an app.
func isAppHost(host string) bool {
	address, err := netip.ParseAddr(host)
	return err == nil && address.Zone() == "" && !address.IsUnspecified() && !address.IsMulticast()
}

// argumentsAfter are those of all pods, without what this pod says itself.
func argumentsAfter(ofPod, ofAll []string) []string {
	says := func(argument string) bool {
		name, _, _ := strings.Cut(argument, "=")
		return slices.ContainsFunc(ofPod, func(own string) bool { return strings.HasPrefix(own, name+"=") })
	}
	return slices.Concat(ofPod, slices.DeleteFunc(slices.Clone(ofAll), says))
}
