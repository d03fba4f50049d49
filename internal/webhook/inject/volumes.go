// Copyright The Penstock Authors.
// SPDX-License-Identifier: Apache-2.0

package inject

import (
	corev1 "k8s.io/api/core/v1"

	"github.com/penstock-dev/penstock/api/v1alpha1"
)

// sidecarVolumes are the store's Secret and the pod's labels. The Secret is
// optional, since a missing one would keep the pod from starting, and neither is an
// emptyDir, which would block drains of the node.
func sidecarVolumes() []corev1.Volume {
	projected := func(name string, source corev1.VolumeProjection) corev1.Volume {
		return corev1.Volume{Name: name, VolumeSource: corev1.VolumeSource{
			Projected: &corev1.ProjectedVolumeSource{Sources: []corev1.VolumeProjection{source}},
		}}
	}
	return []corev1.Volume{
		projected(storeVolume, corev1.VolumeProjection{Secret: &corev1.SecretProjection{
			LocalObjectReference: corev1.LocalObjectReference{Name: v1alpha1.SidecarSecretName},
			Optional:             new(true),
		}}),
		projected(podInfoVolume, corev1.VolumeProjection{DownwardAPI: &corev1.DownwardAPIProjection{
			Items: []corev1.DownwardAPIVolumeFile{{
				Path:     "labels",
				FieldRef: &corev1.ObjectFieldSelector{APIVersion: "v1", FieldPath: "metadata.labels"},
			}},
		}}),
	}
}
