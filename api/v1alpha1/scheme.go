// Copyright The Penstock Authors.
// SPDX-License-Identifier: Apache-2.0

package v1alpha1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// Group is the API group of all kinds in this package.
const Group = "ratelimit.penstock.dev"

var (
	// SchemeGroupVersion is the group and version of the kinds in this package.
	SchemeGroupVersion = schema.GroupVersion{Group: Group, Version: "v1alpha1"}

	schemeBuilder = runtime.NewSchemeBuilder(addKnownTypes)
	// AddToScheme adds the kinds in this package to a scheme.
	AddToScheme = schemeBuilder.AddToScheme
)

func addKnownTypes(scheme *runtime.Scheme) error {
	scheme.AddKnownTypes(SchemeGroupVersion,
		&RateLimitPolicy{}, &RateLimitPolicyList{},
		&ClusterRateLimitPolicy{}, &ClusterRateLimitPolicyList{},
		&RateLimitStore{}, &RateLimitStoreList{},
	)
	metav1.AddToGroupVersion(scheme, SchemeGroupVersion)
	return nil
}
