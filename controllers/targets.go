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
func resolveTargets(ctx context.Context, reader client.Reader, s *scope) (map[compile.Target]compile.Resolved, error) {
	found := map[compile.Target]compile.Resolved{}
	for _, target := range compile.Targets(s.policies) {
		resolved, err := resolveTarget(ctx, reader, s, target)
		if apierrors.IsNotFound(err) {
			continue
		}
		if err != nil {
			return nil, fmt.Errorf("read target %s %s/%s: %w", target.Kind, s.name, target.Name, err)
		}
		if resolved != nil {
			found[target] = *resolved
		}
	}
	return found, nil
}

// resolveTarget is what a target stands for; nil for a kind that has no pods.
func resolveTarget(ctx context.Context, reader client.Reader, s *scope, target compile.Target) (*compile.Resolved, error) {
	key := client.ObjectKey{Namespace: s.name, Name: target.Name}
	selecting := func(selector *metav1.LabelSelector, err error) (*compile.Resolved, error) {
		if err != nil || selector == nil {
			return nil, err
		}
		return &compile.Resolved{Selector: compile.Selector(selector)}, nil
	}
	switch v1alpha1.TargetKind(target.Kind) {
	case v1alpha1.TargetDeployment:
		workload := &appsv1.Deployment{}
		err := reader.Get(ctx, key, workload)
		return selecting(workload.Spec.Selector, err)
	case v1alpha1.TargetStatefulSet:
		workload := &appsv1.StatefulSet{}
		err := reader.Get(ctx, key, workload)
		return selecting(workload.Spec.Selector, err)
	case v1alpha1.TargetDaemonSet:
		workload := &appsv1.DaemonSet{}
		err := reader.Get(ctx, key, workload)
		return selecting(workload.Spec.Selector, err)
	case v1alpha1.TargetService:
		service := &corev1.Service{}
		if err := reader.Get(ctx, key, service); err != nil {
			return nil, err
		}
		resolved := &compile.Resolved{Selector: ruleset.Selector{MatchLabels: service.Spec.Selector}}
		if target.SectionName != "" {
			resolveSection(resolved, service, target.SectionName, s.pods)
		}
		return resolved, nil
	}
	return nil, nil
}
