// Copyright The Penstock Authors.
// SPDX-License-Identifier: Apache-2.0

package inject

import (
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/penstock-dev/penstock/api/v1alpha1"
)

// The sidecar's first ports, tried upwards until one is free in the pod. Meshes
// own 15000 to 15100.
const (
	firstListenPort = 15480
	firstAdminPort  = 15420
	lastPort        = 65535
)

// assignPorts gives each intercepted port one to listen on and returns the admin
// port, avoiding all ports that the pod declares or probes.
func assignPorts(pod *corev1.Pod, ports []v1alpha1.InterceptedPort) (admin int32, why refusal) {
	used := usedPorts(pod)
	take := func(first int32) int32 {
		for number := first; number <= lastPort; number++ {
			if !used[number] {
				used[number] = true
				return number
			}
		}
		why = refusal{reason: ReasonNoFreePort}
		return 0
	}
	admin = take(firstAdminPort)
	for i := range ports {
		ports[i].Listen = take(firstListenPort)
	}
	return admin, why
}

func usedPorts(pod *corev1.Pod) map[int32]bool {
	used := map[int32]bool{}
	for _, place := range places(pod) {
		for _, port := range place.container.Ports {
			used[port.ContainerPort] = true
		}
		for _, reference := range portReferences(place) {
			if reference.port.Type == intstr.Int {
				used[reference.port.IntVal] = true
			}
		}
	}
	return used
}
