// Copyright The Penstock Authors.
// SPDX-License-Identifier: Apache-2.0

package inject

import (
	"encoding/json"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
)

// TestNamedPortsOfProbesBecomeNumbers covers each place in which a pod can call a
// port by name: the kubelet would not find the name any more.
func TestNamedPortsOfProbesBecomeNumbers(t *testing.T) {
	t.Parallel()
	get := func() *corev1.HTTPGetAction { return &corev1.HTTPGetAction{Port: intstr.FromString("http")} }
	socket := func() *corev1.TCPSocketAction { return &corev1.TCPSocketAction{Port: intstr.FromString("http")} }
	tests := map[string]corev1.Container{
		"liveness":            {LivenessProbe: &corev1.Probe{ProbeHandler: corev1.ProbeHandler{HTTPGet: get()}}},
		"readiness":           {ReadinessProbe: &corev1.Probe{ProbeHandler: corev1.ProbeHandler{HTTPGet: get()}}},
		"startup":             {StartupProbe: &corev1.Probe{ProbeHandler: corev1.ProbeHandler{HTTPGet: get()}}},
		"liveness socket":     {LivenessProbe: &corev1.Probe{ProbeHandler: corev1.ProbeHandler{TCPSocket: socket()}}},
		"readiness socket":    {ReadinessProbe: &corev1.Probe{ProbeHandler: corev1.ProbeHandler{TCPSocket: socket()}}},
		"startup socket":      {StartupProbe: &corev1.Probe{ProbeHandler: corev1.ProbeHandler{TCPSocket: socket()}}},
		"after start":         {Lifecycle: &corev1.Lifecycle{PostStart: &corev1.LifecycleHandler{HTTPGet: get()}}},
		"before stop":         {Lifecycle: &corev1.Lifecycle{PreStop: &corev1.LifecycleHandler{HTTPGet: get()}}},
		"before stop, socket": {Lifecycle: &corev1.Lifecycle{PreStop: &corev1.LifecycleHandler{TCPSocket: socket()}}},
	}
	for name, container := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			container.Name = "app"
			container.Ports = []corev1.ContainerPort{{Name: "http", ContainerPort: 8080}}
			object, err := json.Marshal(&corev1.Pod{Spec: corev1.PodSpec{Containers: []corev1.Container{container}}})
			if err != nil {
				t.Fatal(err)
			}
			result, err := Pod(object, Namespace{}, Options{})
			if err != nil {
				t.Fatal(err)
			}
			var patched corev1.Pod
			if err := json.Unmarshal(apply(t, result.Patch, object), &patched); err != nil {
				t.Fatal(err)
			}
			references := portReferences(places(&patched)[0])
			if len(references) != 1 || references[0].port != intstr.FromInt32(8080) {
				t.Errorf("calls %v, want port 8080 by number", references)
			}
		})
	}
}
