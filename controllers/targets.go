// Copyright The Penstock Authors.
// SPDX-License-Identifier: Apache-2.0

package controllers

import (
	"context"
	"fmt"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/penstock-dev/penstock/api/v1alpha1"
	"github.com/penstock-dev/penstock/internal/compile"
	"github.com/penstock-dev/penstock/internal/ruleset"
)

// resolveTargets finds the pods' selectors of the targets that policies name. A
// target that does not exist is left out, and so is one of an unknown kind, which
// the compiler refuses by itself.
func resolveTargets(ctx context.Context, reader client.Reader, s *scope) (map[compile.Target]ruleset.Selector, error) {
	selectors := map[compile.Target]ruleset.Selector{}
	for _, target := range compile.Targets(s.policies) {
		selector, err := targetSelector(ctx, reader, s.name, target)
		if apierrors.IsNotFound(err) {
			continue
		}
		if err != nil {
			return nil, fmt.Errorf("read target %s %s/%s: %w", target.Kind, s.name, target.Name, err)
		}
		if selector != nil {
			selectors[target] = compile.Selector(selector)
		}
	}
	return selectors, nil
}

// targetSelector is the label selector of a target; nil for a kind that has none.
func targetSelector(ctx context.Context, reader client.Reader, namespace string, target compile.Target) (*metav1.LabelSelector, error) {
	key := client.ObjectKey{Namespace: namespace, Name: target.Name}
	switch v1alpha1.TargetKind(target.Kind) {
	case v1alpha1.TargetDeployment:
		workload := &appsv1.Deployment{}
		err := reader.Get(ctx, key, workload)
		return workload.Spec.Selector, err
	case v1alpha1.TargetStatefulSet:
		workload := &appsv1.StatefulSet{}
		err := reader.Get(ctx, key, workload)
		return workload.Spec.Selector, err
	case v1alpha1.TargetDaemonSet:
		workload := &appsv1.DaemonSet{}
		err := reader.Get(ctx, key, workload)
		return workload.Spec.Selector, err
	case v1alpha1.TargetService:
		service := &corev1.Service{}
		err := reader.Get(ctx, key, service)
		return &metav1.LabelSelector{MatchLabels: service.Spec.Selector}, err
	}
	return nil, nil
}
