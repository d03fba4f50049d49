// Copyright The Penstock Authors.
// SPDX-License-Identifier: Apache-2.0

package controllers

// The rights of the operator, from which config/rbac/role.yaml is generated.
//
// What it watches:
// +kubebuilder:rbac:groups=ratelimit.penstock.dev,resources=ratelimitpolicies;clusterratelimitpolicies;ratelimitstores,verbs=get;list;watch
// +kubebuilder:rbac:groups="",resources=namespaces;pods;services,verbs=get;list;watch
// +kubebuilder:rbac:groups=apps,resources=deployments;statefulsets;daemonsets,verbs=get;list;watch
//
// What it reports:
// +kubebuilder:rbac:groups=ratelimit.penstock.dev,resources=ratelimitpolicies/status;clusterratelimitpolicies/status;ratelimitstores/status,verbs=patch
// +kubebuilder:rbac:groups=events.k8s.io,resources=events,verbs=create;patch
//
// The Secret of each namespace with sidecars. Creation cannot be limited to a name
// by RBAC; a ValidatingAdmissionPolicy does that.
// +kubebuilder:rbac:groups="",resources=secrets,resourceNames=penstock-sidecar,verbs=get;patch;delete
// +kubebuilder:rbac:groups="",resources=secrets,verbs=create
//
// The Secrets of its own namespace: those that stores name, and penstock-identity.
// +kubebuilder:rbac:groups="",namespace=penstock-system,resources=secrets,verbs=get;create
