// Copyright The Penstock Authors.
// SPDX-License-Identifier: Apache-2.0

package inject

import (
	"slices"

	corev1 "k8s.io/api/core/v1"

	"github.com/penstock-dev/penstock/api/v1alpha1"
)

// whyNot is why this pod gets no sidecar whatever its ports are.
func whyNot(pod *corev1.Pod, options Options) refusal {
	spec := &pod.Spec
	switch {
	case hasNameless(pod):
		return refusal{reason: ReasonMalformed}
	case isInjected(pod):
		return refusal{reason: ReasonAlreadyInjected}
	case pod.Labels[v1alpha1.LabelInject] == "false":
		return refusal{reason: ReasonOptedOut}
	case options.OutdatedKubernetes != "":
		return refusal{ReasonUnsupportedVersion, options.OutdatedKubernetes}
	case pod.Annotations[corev1.MirrorPodAnnotationKey] != "":
		return refusal{reason: ReasonStaticPod}
	case spec.HostNetwork:
		return refusal{reason: ReasonHostNetwork}
	case spec.OS != nil && spec.OS.Name == corev1.Windows, spec.NodeSelector[corev1.LabelOSStable] == string(corev1.Windows):
		return refusal{reason: ReasonWindows}
	}
	return nameTaken(pod)
}

// hasNameless reports whether a container or volume has no name, by which a patch guards
// its place.
func hasNameless(pod *corev1.Pod) bool {
	for _, place := range places(pod) {
		if place.container.Name == "" {
			return true
		}
	}
	return slices.ContainsFunc(pod.Spec.Volumes, func(volume corev1.Volume) bool { return volume.Name == "" })
}

func isInjected(pod *corev1.Pod) bool {
	for i := range pod.Spec.InitContainers {
		if pod.Spec.InitContainers[i].Name == v1alpha1.SidecarContainerName {
			return true
		}
	}
	return false
}

func nameTaken(pod *corev1.Pod) refusal {
	for _, place := range places(pod) {
		if place.container.Name == v1alpha1.SidecarContainerName {
			return refusal{ReasonNameTaken, "container " + place.container.Name}
		}
		for _, port := range place.container.Ports {
			if port.Name == adminPortName {
				return refusal{ReasonNameTaken, "port " + port.Name}
			}
		}
	}
	for _, volume := range pod.Spec.Volumes {
		if volume.Name == storeVolume || volume.Name == podInfoVolume {
			return refusal{ReasonNameTaken, "volume " + volume.Name}
		}
	}
	return refusal{}
}
