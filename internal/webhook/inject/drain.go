// Copyright The Penstock Authors.
// SPDX-License-Identifier: Apache-2.0

package inject

import (
	"strconv"

	corev1 "k8s.io/api/core/v1"

	"github.com/penstock-dev/penstock/api/v1alpha1"
)

// defaultGraceSeconds is how long Kubernetes gives a pod that does not say.
const defaultGraceSeconds = 30

// keepServing has the app's containers sleep, for as many seconds as the pod's
// annotation asks for, before they are told to end: callers that have not heard of the
// end yet are still served. A container with a preStop hook of its own is left alone.
func (p *patch) keepServing(pod *corev1.Pod) refusal {
	text, asked := pod.Annotations[v1alpha1.AnnotationDrainSeconds]
	if !asked {
		return refusal{}
	}
	grace := int64(defaultGraceSeconds)
	if pod.Spec.TerminationGracePeriodSeconds != nil {
		grace = *pod.Spec.TerminationGracePeriodSeconds
	}
	seconds, err := strconv.ParseInt(text, 10, 64)
	if err != nil || seconds < 1 || seconds >= grace {
		// With a longer sleep the API server would refuse the pod, or the app would be
		// killed in its sleep.
		return refusal{ReasonDrainSeconds, strconv.Quote(text) + ", not a whole number from 1 to " + strconv.FormatInt(grace-1, 10)}
	}
	sleep := &corev1.LifecycleHandler{Sleep: &corev1.SleepAction{Seconds: seconds}}
	for _, place := range places(pod)[:len(pod.Spec.Containers)] {
		hooks := place.container.Lifecycle
		switch {
		case hooks == nil:
			p.guard(place.path+"/name", place.container.Name)
			p.add(place.path+"/lifecycle", corev1.Lifecycle{PreStop: sleep})
		case hooks.PreStop == nil:
			p.guard(place.path+"/name", place.container.Name)
			p.add(place.path+"/lifecycle/preStop", sleep)
		}
	}
	return refusal{}
}
