// Copyright The Penstock Authors.
// SPDX-License-Identifier: Apache-2.0

package inject

import (
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
)

// reference is a port that a probe or a lifecycle hook calls, and where it stands
// in the pod.
type reference struct {
	path string
	port intstr.IntOrString
}

// portReferences are the ports that the kubelet calls on behalf of a container.
// gRPC probes are not among them: their port is always a number.
func portReferences(p place) []reference {
	var found []reference
	add := func(path string, get *corev1.HTTPGetAction, socket *corev1.TCPSocketAction) {
		if get != nil {
			found = append(found, reference{p.path + path + "/httpGet/port", get.Port})
		}
		if socket != nil {
			found = append(found, reference{p.path + path + "/tcpSocket/port", socket.Port})
		}
	}
	probe := func(path string, probe *corev1.Probe) {
		if probe != nil {
			add(path, probe.HTTPGet, probe.TCPSocket)
		}
	}
	probe("/livenessProbe", p.container.LivenessProbe)
	probe("/readinessProbe", p.container.ReadinessProbe)
	probe("/startupProbe", p.container.StartupProbe)
	if hooks := p.container.Lifecycle; hooks != nil {
		if hooks.PostStart != nil {
			add("/lifecycle/postStart", hooks.PostStart.HTTPGet, hooks.PostStart.TCPSocket)
		}
		if hooks.PreStop != nil {
			add("/lifecycle/preStop", hooks.PreStop.HTTPGet, hooks.PreStop.TCPSocket)
		}
	}
	return found
}
