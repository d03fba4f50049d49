// Copyright The Penstock Authors.
// SPDX-License-Identifier: Apache-2.0

package inject

import (
	"encoding/json"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	kjson "k8s.io/apimachinery/pkg/util/json"

	"github.com/penstock-dev/penstock/api/v1alpha1"
)

// InterceptionPortName is the interception in which the sidecar takes over the name
// of the app's port, so that a Service with a named targetPort reaches the sidecar.
const InterceptionPortName = "PortName"

// Result is what is to be done with a pod.
type Result struct {
	// Patch are the operations that change it; empty leaves it alone.
	Patch []Operation
	// Report is what was done and why, as the patch also writes it on the pod.
	Report v1alpha1.PodInjection
}

// Pod decides about a pod, given as the JSON object that the patch will be applied
// to. The patch adds the sidecar, or only the annotation that says why there is
// none. Applied to its own outcome it does nothing. An error means that the object
// is no pod that this program can read.
func Pod(object []byte, namespace Namespace, options Options) (result Result, err error) {
	pod, complete, err := decode(object)
	if err != nil {
		return Result{}, fmt.Errorf("decode pod: %w", err)
	}
	if !complete {
		return Result{Report: refusal{reason: ReasonMalformed}.report(options.Version)}, nil
	}
	var changes patch
	why := whyNot(pod, options)
	if why == (refusal{}) {
		changes, result.Report, why = addSidecar(pod, namespace, options)
	}
	if why != (refusal{}) {
		changes, result.Report = nil, why.report(options.Version)
	}
	if why.reason == ReasonAlreadyInjected || why.reason == ReasonMalformed {
		return result, nil
	}
	if err := changes.annotate(pod, result.Report); err != nil {
		return Result{}, err
	}
	result.Patch = changes
	return result, nil
}

// addSidecar writes the patch for a pod that may have a sidecar. Changes to
// containers come before the sidecar is inserted, which moves init containers.
func addSidecar(pod *corev1.Pod, namespace Namespace, options Options) (patch, v1alpha1.PodInjection, refusal) {
	var report v1alpha1.PodInjection
	ports, why := portsToIntercept(pod)
	if why != (refusal{}) {
		return nil, report, why
	}
	admin, why := assignPorts(pod, ports)
	if why != (refusal{}) {
		return nil, report, why
	}
	var changes patch
	if why := changes.releaseNames(pod, ports); why != (refusal{}) {
		return nil, report, why
	}
	if why := changes.keepServing(pod); why != (refusal{}) {
		return nil, report, why
	}
	arguments, why := podArguments(pod)
	if why != (refusal{}) {
		return nil, report, why
	}
	resources := sidecarResources(pod, namespace, options.Resources)
	container := sidecar(pod, ports, admin, resources, options.Image)
	container.Args = append(container.Args, argumentsAfter(arguments, options.Arguments)...)
	changes.prepend("/spec/initContainers", container, pod.Spec.InitContainers)
	changes.extend("/spec/volumes", sidecarVolumes(), pod.Spec.Volumes)
	report = v1alpha1.PodInjection{Injected: true, Interception: InterceptionPortName, Ports: ports, Version: options.Version}
	return changes, report, refusal{}
}

// annotate writes the report on the pod, unless it stands there already.
func (p *patch) annotate(pod *corev1.Pod, report v1alpha1.PodInjection) error {
	text, err := json.Marshal(report)
	if err != nil {
		return fmt.Errorf("encode annotation %s: %w", v1alpha1.AnnotationStatus, err)
	}
	if pod.Annotations[v1alpha1.AnnotationStatus] != string(text) {
		p.put("/metadata/annotations", v1alpha1.AnnotationStatus, string(text), pod.Annotations)
	}
	return nil
}

// decode reads a pod as the API server does, and whether it has the two objects
// that a patch needs to find.
func decode(object []byte) (pod *corev1.Pod, complete bool, err error) {
	var shape struct {
		Metadata map[string]json.RawMessage `json:"metadata"`
		Spec     map[string]json.RawMessage `json:"spec"`
	}
	pod = &corev1.Pod{}
	for _, into := range []any{&shape, pod} {
		if err := kjson.Unmarshal(object, into); err != nil {
			return nil, false, err
		}
	}
	return pod, shape.Metadata != nil && shape.Spec != nil, nil
}
