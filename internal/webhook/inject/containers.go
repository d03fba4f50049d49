// Copyright The Penstock Authors.
// SPDX-License-Identifier: Apache-2.0

package inject

import (
	"strconv"

	corev1 "k8s.io/api/core/v1"
)

// place is a container and where it stands in the pod.
type place struct {
	path      string
	container *corev1.Container
	// running is whether it runs as long as the pod does: an app container or a
	// native sidecar. Only these serve requests.
	running bool
}

// places lists all containers of a pod in the order in which Kubernetes resolves
// the name of a port: app containers first.
func places(pod *corev1.Pod) []place {
	var all []place
	for i := range pod.Spec.Containers {
		all = append(all, place{"/spec/containers/" + strconv.Itoa(i), &pod.Spec.Containers[i], true})
	}
	for i := range pod.Spec.InitContainers {
		container := &pod.Spec.InitContainers[i]
		always := container.RestartPolicy != nil && *container.RestartPolicy == corev1.ContainerRestartPolicyAlways
		all = append(all, place{"/spec/initContainers/" + strconv.Itoa(i), container, always})
	}
	return all
}

// servesTCP is whether a port can be intercepted. One without a protocol can:
// absent means TCP. One without a number is none.
func servesTCP(port corev1.ContainerPort) bool {
	return port.ContainerPort > 0 && (port.Protocol == corev1.ProtocolTCP || port.Protocol == "")
}
