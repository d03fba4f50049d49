// Copyright The Penstock Authors.
// SPDX-License-Identifier: Apache-2.0

package v1alpha1

import metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

// +kubebuilder:object:root=true
// +kubebuilder:subresource:status
// +kubebuilder:resource:shortName=rlpol

// RateLimitPolicy limits requests to pods of its own namespace.
type RateLimitPolicy struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitzero"`

	// spec is what is wanted.
	// +required
	Spec RateLimitPolicySpec `json:"spec,omitzero"`
	// status is what is so.
	// +optional
	Status PolicyStatus `json:"status,omitzero"`
}

// +kubebuilder:object:root=true

// RateLimitPolicyList is a list of RateLimitPolicy.
type RateLimitPolicyList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitzero"`
	Items           []RateLimitPolicy `json:"items"`
}

// RateLimitPolicySpec says which pods are limited, and how.
type RateLimitPolicySpec struct {
	// targetRefs name the workloads whose pods are limited.
	// +optional
	TargetRefs []TargetReference `json:"targetRefs,omitempty"`
	// selector selects the pods that are limited by their labels.
	// +optional
	Selector *metav1.LabelSelector `json:"selector,omitempty"`

	PolicyRules `json:",inline"`
}

// TargetReference names a workload or a Service of the policy's namespace.
type TargetReference struct {
	// group: "apps" for workloads, "" for Service.
	Group string `json:"group"`
	// kind: Deployment, StatefulSet, DaemonSet or Service.
	Kind TargetKind `json:"kind"`
	Name string     `json:"name"`
	// sectionName is the name of the Service's port.
	// +optional
	SectionName string `json:"sectionName,omitempty"`
}

// TargetKind is a kind that a policy can target.
// +kubebuilder:validation:Enum=Deployment;StatefulSet;DaemonSet;Service
type TargetKind string

const (
	TargetDeployment  TargetKind = "Deployment"
	TargetStatefulSet TargetKind = "StatefulSet"
	TargetDaemonSet   TargetKind = "DaemonSet"
	TargetService     TargetKind = "Service"
)
