// Copyright The Penstock Authors.
// SPDX-License-Identifier: Apache-2.0

package v1alpha1

import metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

// +kubebuilder:object:root=true
// +kubebuilder:subresource:status
// +kubebuilder:resource:scope=Cluster,shortName=crlpol

// ClusterRateLimitPolicy limits requests to pods of many namespaces.
type ClusterRateLimitPolicy struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitzero"`

	// +required
	Spec ClusterRateLimitPolicySpec `json:"spec,omitzero"`
	// +optional
	Status PolicyStatus `json:"status,omitzero"`
}

// +kubebuilder:object:root=true

// ClusterRateLimitPolicyList is a list of ClusterRateLimitPolicy.
type ClusterRateLimitPolicyList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitzero"`
	Items           []ClusterRateLimitPolicy `json:"items"`
}

// ClusterRateLimitPolicySpec says which pods are limited, and how.
type ClusterRateLimitPolicySpec struct {
	// +optional
	NamespaceSelector *metav1.LabelSelector `json:"namespaceSelector,omitempty"`
	// +optional
	Selector *metav1.LabelSelector `json:"selector,omitempty"`
	// +optional
	Placement Placement `json:"placement,omitempty"`

	PolicyRules `json:",inline"`
}

// Placement says how a cluster's policy stands to those of a namespace.
// +kubebuilder:validation:Enum=Override;Default
type Placement string

const (
	PlacementOverride Placement = "Override"
	PlacementDefault  Placement = "Default"
)
