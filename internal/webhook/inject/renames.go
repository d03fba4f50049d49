// Copyright The Penstock Authors.
// SPDX-License-Identifier: Apache-2.0

package inject

import (
	"slices"
	"strconv"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/penstock-dev/penstock/api/v1alpha1"
)

// appPortName is what the app's port is called once the sidecar has its name.
func appPortName(number int32) string { return "app-" + strconv.Itoa(int(number)) }

// releaseNames takes the names of the intercepted ports from the app's containers.
// A name is taken from every TCP port that has it, also from those that are not
// intercepted: Kubernetes looks at app containers first, so one that kept the name
// would receive the requests instead of the sidecar. Probes and hooks find ports
// by name in their own container; those that used the name get the number.
func (p *patch) releaseNames(pod *corev1.Pod, ports []v1alpha1.InterceptedPort) refusal {
	taken := map[string]bool{}
	for _, place := range places(pod) {
		for _, port := range place.container.Ports {
			taken[port.Name] = true
		}
	}
	for _, place := range places(pod) {
		if !place.running {
			continue
		}
		numbers := map[string]int32{}
		for i, port := range place.container.Ports {
			if !servesTCP(port) || !slices.ContainsFunc(ports, func(p v1alpha1.InterceptedPort) bool { return p.Name == port.Name }) {
				continue
			}
			name := appPortName(port.ContainerPort)
			if taken[name] {
				return refusal{ReasonPortNameTaken, name}
			}
			taken[name] = true
			numbers[port.Name] = port.ContainerPort
			path := place.path + "/ports/" + strconv.Itoa(i)
			p.guard(path+"/containerPort", port.ContainerPort)
			p.replace(path+"/name", port.Name, name)
		}
		p.numberReferences(place, numbers)
	}
	return refusal{}
}

func (p *patch) numberReferences(at place, numbers map[string]int32) {
	for _, reference := range portReferences(at) {
		number, renamed := numbers[reference.port.StrVal]
		if reference.port.Type == intstr.String && renamed {
			p.replace(reference.path, reference.port.StrVal, number)
		}
	}
}
