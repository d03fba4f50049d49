// Copyright The Penstock Authors.
// SPDX-License-Identifier: Apache-2.0

package controllers

import (
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/penstock-dev/penstock/api/v1alpha1"
)

// CacheOptions keep of each object only what is read here: a cluster has many pods,
// and the operator remembers all of them. Secrets are never cached.
func CacheOptions() cache.Options {
	slim := func(keep func(any)) cache.ByObject {
		strip := cache.TransformStripManagedFields()
		return cache.ByObject{Transform: func(object any) (any, error) {
			stripped, err := strip(object)
			keep(stripped)
			return stripped, err
		}}
	}
	return cache.Options{
		DefaultTransform: cache.TransformStripManagedFields(),
		ByObject: map[client.Object]cache.ByObject{
			&corev1.Pod{}:         slim(slimPod),
			&appsv1.Deployment{}:  slim(slimWorkload),
			&appsv1.StatefulSet{}: slim(slimWorkload),
			&appsv1.DaemonSet{}:   slim(slimWorkload),
			&corev1.Service{}:     slim(slimService),
		},
	}
}

// slimPod leaves what viewPod reads.
func slimPod(object any) {
	pod, ok := object.(*corev1.Pod)
	if !ok {
		return
	}
	pod.ObjectMeta = slimMeta(pod.ObjectMeta, v1alpha1.AnnotationStatus)
	var sidecars []corev1.Container
	for _, container := range pod.Spec.InitContainers {
		if container.Name == v1alpha1.SidecarContainerName {
			sidecars = append(sidecars, corev1.Container{Name: container.Name})
		}
	}
	pod.Spec = corev1.PodSpec{InitContainers: sidecars}
	var ready []corev1.PodCondition
	for _, condition := range pod.Status.Conditions {
		if condition.Type == corev1.PodReady {
			ready = append(ready, corev1.PodCondition{Type: condition.Type, Status: condition.Status, LastTransitionTime: condition.LastTransitionTime})
		}
	}
	pod.Status = corev1.PodStatus{Phase: pod.Status.Phase, Conditions: ready}
}

// slimWorkload leaves a workload's selector.
func slimWorkload(object any) {
	switch workload := object.(type) {
	case *appsv1.Deployment:
		workload.ObjectMeta = slimMeta(workload.ObjectMeta)
		workload.Spec = appsv1.DeploymentSpec{Selector: workload.Spec.Selector}
		workload.Status = appsv1.DeploymentStatus{}
	case *appsv1.StatefulSet:
		workload.ObjectMeta = slimMeta(workload.ObjectMeta)
		workload.Spec = appsv1.StatefulSetSpec{Selector: workload.Spec.Selector}
		workload.Status = appsv1.StatefulSetStatus{}
	case *appsv1.DaemonSet:
		workload.ObjectMeta = slimMeta(workload.ObjectMeta)
		workload.Spec = appsv1.DaemonSetSpec{Selector: workload.Spec.Selector}
		workload.Status = appsv1.DaemonSetStatus{}
	}
}

// slimService leaves a Service's selector and ports.
func slimService(object any) {
	service, ok := object.(*corev1.Service)
	if !ok {
		return
	}
	service.ObjectMeta = slimMeta(service.ObjectMeta)
	service.Spec = corev1.ServiceSpec{Selector: service.Spec.Selector, Ports: service.Spec.Ports, ClusterIP: service.Spec.ClusterIP}
	service.Status = corev1.ServiceStatus{}
}

// slimMeta leaves what names and versions an object, its labels, and the named
// annotations.
func slimMeta(meta metav1.ObjectMeta, annotations ...string) metav1.ObjectMeta {
	kept := metav1.ObjectMeta{
		Name: meta.Name, Namespace: meta.Namespace, UID: meta.UID,
		ResourceVersion: meta.ResourceVersion, Generation: meta.Generation,
		CreationTimestamp: meta.CreationTimestamp, DeletionTimestamp: meta.DeletionTimestamp,
		Labels: meta.Labels,
	}
	for _, name := range annotations {
		if value, found := meta.Annotations[name]; found {
			kept.Annotations = map[string]string{name: value}
		}
	}
	return kept
}
