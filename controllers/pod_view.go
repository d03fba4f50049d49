// Copyright The Penstock Authors.
// SPDX-License-Identifier: Apache-2.0

package controllers

import (
	"encoding/json"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/penstock-dev/penstock/api/v1alpha1"
)

// podView is what matters of a pod here.
type podView struct {
	name   string
	uid    string
	labels map[string]string
	// injected is whether the pod has the sidecar's container.
	injected bool
	// report is what the webhook wrote on the pod; nil where it wrote nothing.
	report *v1alpha1.PodInjection
	// readySince is when the pod became ready; zero while it is not.
	readySince time.Time
}

func (p podView) ready() bool { return !p.readySince.IsZero() }

// viewPod returns the view of a pod, and false for a pod that is terminating or
// has finished: no request reaches it any more.
func viewPod(pod *corev1.Pod) (podView, bool) {
	if !pod.DeletionTimestamp.IsZero() || pod.Status.Phase == corev1.PodSucceeded || pod.Status.Phase == corev1.PodFailed {
		return podView{}, false
	}
	view := podView{
		name:     pod.Name,
		uid:      string(pod.UID),
		labels:   pod.Labels,
		injected: hasSidecar(pod),
		report:   injectionReport(pod),
	}
	for _, condition := range pod.Status.Conditions {
		if condition.Type == corev1.PodReady && condition.Status == corev1.ConditionTrue {
			view.readySince = condition.LastTransitionTime.Time
		}
	}
	return view, true
}

func hasSidecar(pod *corev1.Pod) bool {
	return slices.ContainsFunc(pod.Spec.InitContainers, func(container corev1.Container) bool {
		return container.Name == v1alpha1.SidecarContainerName
	})
}

// injectionReport reads the annotation that the webhook wrote. One that does not
// parse was not written by it and counts as absent.
func injectionReport(pod *corev1.Pod) *v1alpha1.PodInjection {
	text, found := pod.Annotations[v1alpha1.AnnotationStatus]
	if !found {
		return nil
	}
	report := &v1alpha1.PodInjection{}
	if json.Unmarshal([]byte(text), report) != nil {
		return nil
	}
	return report
}
