// Copyright The Penstock Authors.
// SPDX-License-Identifier: Apache-2.0

package inject

import (
	"strconv"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
)

// sidecarResources are the sidecar's requests and limits in this pod. A pod with
// resources of its own has a budget that larger sums of its containers would break,
// so there the sidecar asks for nothing.
func sidecarResources(pod *corev1.Pod, namespace Namespace, want Resources) corev1.ResourceRequirements {
	if pod.Spec.Resources != nil {
		return corev1.ResourceRequirements{}
	}
	want = want.withDefaults()
	if isGuaranteed(pod) {
		all := corev1.ResourceList{corev1.ResourceCPU: want.CPULimit, corev1.ResourceMemory: want.MemoryLimit}
		return corev1.ResourceRequirements{Requests: all, Limits: all}
	}
	resources := corev1.ResourceRequirements{
		Requests: corev1.ResourceList{corev1.ResourceCPU: want.CPU, corev1.ResourceMemory: want.Memory},
	}
	limit := func(name corev1.ResourceName, quantity resource.Quantity) {
		if resources.Limits == nil {
			resources.Limits = corev1.ResourceList{}
		}
		resources.Limits[name] = quantity
	}
	if namespace.CPULimitRequired {
		limit(corev1.ResourceCPU, want.CPULimit)
	}
	if namespace.MemoryLimitRequired {
		limit(corev1.ResourceMemory, want.MemoryLimit)
	}
	return resources
}

// isGuaranteed is whether the pod, without a sidecar, is of the QoS class
// Guaranteed: every container has limits for CPU and memory, and no request that
// differs from its limit.
func isGuaranteed(pod *corev1.Pod) bool {
	all := places(pod)
	for _, place := range all {
		resources := place.container.Resources
		for _, name := range []corev1.ResourceName{corev1.ResourceCPU, corev1.ResourceMemory} {
			limit, limited := resources.Limits[name]
			if !limited || limit.IsZero() {
				return false
			}
			if request, requested := resources.Requests[name]; requested && request.Cmp(limit) != 0 {
				return false
			}
		}
	}
	return len(all) > 0
}

// goMemoryLimit is the value of GOMEMLIMIT for a memory limit: nine tenths of it,
// since the limit also counts what the Go runtime does not manage. Empty without a
// limit.
func goMemoryLimit(resources corev1.ResourceRequirements) string {
	limit, limited := resources.Limits[corev1.ResourceMemory]
	if !limited {
		return ""
	}
	return strconv.FormatInt(limit.Value()/10*9, 10)
}
