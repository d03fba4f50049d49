// Copyright The Penstock Authors.
// SPDX-License-Identifier: Apache-2.0

package v1alpha1

import metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

// ClusterRateLimitPolicy limits HTTP requests to pods of many namespaces.
// Counters are per namespace: two namespaces never share a count.
//
// +kubebuilder:object:root=true
// +kubebuilder:subresource:status
// +kubebuilder:resource:scope=Cluster,shortName=crlpol,categories=penstock
// +kubebuilder:printcolumn:name=Target,type=string,JSONPath=`.spec['namespaceSelector','selector'].matchLabels`,description="The labels of the selected namespaces, else of the selected pods; empty: every injected namespace."
// +kubebuilder:printcolumn:name=Mode,type=string,JSONPath=`.status.effective.mode`,description="Enforce, Shadow or Disabled; empty while nothing of the policy is in force."
// +kubebuilder:printcolumn:name=Pods,type=string,JSONPath=`.status.pods.summary`,description="Pods that enforce the policy / pods that it selects."
// +kubebuilder:printcolumn:name=Ready,type=string,JSONPath=`.status.conditions[?(@.type=="Ready")].status`
// +kubebuilder:printcolumn:name=Reason,type=string,JSONPath=`.status.conditions[?(@.type=="Ready")].reason`
// +kubebuilder:printcolumn:name=Age,type=date,JSONPath=`.metadata.creationTimestamp`
type ClusterRateLimitPolicy struct {
	metav1.TypeMeta `json:",inline"`
	// metadata is the standard object metadata.
	// +optional
	metav1.ObjectMeta `json:"metadata,omitzero"`

	// spec is what is wanted: which namespaces and pods are limited, and how.
	// +required
	Spec ClusterRateLimitPolicySpec `json:"spec,omitzero"`
	// status is what is so: which generation is in force, and on how many pods.
	// +optional
	Status PolicyStatus `json:"status,omitzero"`
}

// ClusterRateLimitPolicyList is a list of ClusterRateLimitPolicy.
//
// +kubebuilder:object:root=true
type ClusterRateLimitPolicyList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitzero"`
	Items           []ClusterRateLimitPolicy `json:"items"`
}

// ClusterRateLimitPolicySpec says which namespaces and pods are limited, and how.
type ClusterRateLimitPolicySpec struct {
	// namespaceSelector selects namespaces by their labels; {} is every namespace
	// with injection. It must be written, so that nobody limits a whole cluster
	// by leaving something out.
	// Example: {matchLabels: {team: payments}}.
	// +required
	NamespaceSelector *metav1.LabelSelector `json:"namespaceSelector,omitempty"`

	// selector selects pods of these namespaces by their labels. Absent or {}:
	// every pod.
	// Example: {matchLabels: {tier: frontend}}.
	// +optional
	Selector *metav1.LabelSelector `json:"selector,omitempty"`

	// placement says how this policy stands to the policies of a namespace.
	// Override: it is in force on top of them, a floor that nobody can loosen.
	// Default: it is in force only on pods that no RateLimitPolicy with an active
	// generation and a mode other than Disabled selects. Absent means Default.
	// Example: Override.
	// +optional
	Placement Placement `json:"placement,omitempty"`

	PolicyRules `json:",inline"`
}

// Placement says how a cluster's policy stands to those of a namespace.
// +kubebuilder:validation:Enum=Override;Default
type Placement string

// Placements.
const (
	PlacementOverride Placement = "Override"
	PlacementDefault  Placement = "Default"
)
