// Copyright The Penstock Authors.
// SPDX-License-Identifier: Apache-2.0

package controllers

import (
	"context"
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/penstock-dev/penstock/api/v1alpha1"
)

// scope is a namespace with all that its rule set and status depend on.
type scope struct {
	name string
	// namespace is nil where there is none of that name any more.
	namespace *corev1.Namespace
	policies  []*v1alpha1.RateLimitPolicy
	services  []corev1.Service
	// pods are those that requests can reach.
	pods []podView
	// podUIDs are those of all pods, also of terminating ones.
	podUIDs map[string]bool
}

// readScope reads a namespace from the cache.
func readScope(ctx context.Context, reader client.Reader, name string) (*scope, error) {
	found := &scope{name: name, namespace: &corev1.Namespace{}, podUIDs: map[string]bool{}}
	if err := reader.Get(ctx, client.ObjectKey{Name: name}, found.namespace); apierrors.IsNotFound(err) {
		found.namespace = nil
		return found, nil
	} else if err != nil {
		return nil, fmt.Errorf("read namespace %q: %w", name, err)
	}
	policies := &v1alpha1.RateLimitPolicyList{}
	if err := reader.List(ctx, policies, client.InNamespace(name)); err != nil {
		return nil, fmt.Errorf("list policies of namespace %q: %w", name, err)
	}
	for i := range policies.Items {
		found.policies = append(found.policies, &policies.Items[i])
	}
	slices.SortFunc(found.policies, func(a, b *v1alpha1.RateLimitPolicy) int { return strings.Compare(a.Name, b.Name) })
	if err := found.readPods(ctx, reader); err != nil {
		return nil, err
	}
	services := &corev1.ServiceList{}
	if err := reader.List(ctx, services, client.InNamespace(name)); err != nil {
		return nil, fmt.Errorf("list services of namespace %q: %w", name, err)
	}
	found.services = services.Items
	slices.SortFunc(found.services, func(a, b corev1.Service) int { return strings.Compare(a.Name, b.Name) })
	return found, nil
}

func (s *scope) readPods(ctx context.Context, reader client.Reader) error {
	pods := &corev1.PodList{}
	if err := reader.List(ctx, pods, client.InNamespace(s.name)); err != nil {
		return fmt.Errorf("list pods of namespace %q: %w", s.name, err)
	}
	for i := range pods.Items {
		s.podUIDs[string(pods.Items[i].UID)] = true
		if view, reachable := viewPod(&pods.Items[i]); reachable {
			s.pods = append(s.pods, view)
		}
	}
	slices.SortFunc(s.pods, func(a, b podView) int { return strings.Compare(a.name, b.name) })
	return nil
}

// labelled reports whether pods of the namespace get a sidecar.
func (s *scope) labelled() bool {
	return s.namespace != nil && s.namespace.Labels[v1alpha1.LabelInjection] == "enabled"
}

// injected reports whether a sidecar runs in the namespace.
func (s *scope) injected() bool {
	return slices.ContainsFunc(s.pods, func(pod podView) bool { return pod.injected })
}

// wantsSecret reports whether sidecars need the namespace's Secret. Nothing can be
// made in a namespace that is being deleted.
func (s *scope) wantsSecret() bool {
	return (s.labelled() || s.injected()) && s.namespace.DeletionTimestamp.IsZero()
}

// served reports whether the namespace has a rule set, be it an empty one.
func (s *scope) served() bool {
	return s.namespace != nil && (s.labelled() || s.injected() || len(s.policies) > 0)
}

// storeName is the store that a namespace counts in.
func storeName(namespace *corev1.Namespace) string {
	if name := namespace.Labels[v1alpha1.LabelStore]; name != "" {
		return name
	}
	return v1alpha1.DefaultStoreName
}
