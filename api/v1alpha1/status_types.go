// Copyright The Penstock Authors.
// SPDX-License-Identifier: Apache-2.0

package v1alpha1

import metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

// PolicyStatus is what is in force of a policy, and where.
type PolicyStatus struct {
	// +optional
	ObservedGeneration int64 `json:"observedGeneration,omitempty"`
	// +optional
	ActiveGeneration int64 `json:"activeGeneration,omitempty"`
	// +optional
	Revision string `json:"revision,omitempty"`
	// +optional
	Pods *PodCounts `json:"pods,omitempty"`
	// +optional
	Effective *Effective `json:"effective,omitempty"`
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=32
	Problems []Problem `json:"problems,omitempty"`
	// +optional
	// +listType=map
	// +listMapKey=type
	// +kubebuilder:validation:MaxItems=8
	Conditions []metav1.Condition `json:"conditions,omitempty"`
}

// PodCounts counts the pods that a policy selects.
type PodCounts struct {
	Selected  int32 `json:"selected"`
	Injected  int32 `json:"injected"`
	Enforcing int32 `json:"enforcing"`
	Degraded  int32 `json:"degraded"`
	// summary is enforcing/selected, for people.
	Summary string `json:"summary"`
}

// Effective shows what absent fields were taken to mean.
type Effective struct {
	Store               string             `json:"store"`
	Rules               int32              `json:"rules"`
	MaxLimitsPerRequest int32              `json:"maxLimitsPerRequest"`
	Defaults            *EffectiveDefaults `json:"defaults,omitempty"`
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=512
	Coarse []CoarseLimit `json:"coarse,omitempty"`
}

// EffectiveDefaults are the defaults that were taken for absent fields.
type EffectiveDefaults struct {
	// +optional
	Algorithm Algorithm `json:"algorithm,omitempty"`
	// +optional
	PathMatching PathMatching `json:"pathMatching,omitempty"`
	// +optional
	OnStoreFailure OnStoreFailure `json:"onStoreFailure,omitempty"`
}

// CoarseLimit is a limit that is counted in steps.
type CoarseLimit struct {
	// limit is rule/limit.
	Limit      string   `json:"limit"`
	Resolution Duration `json:"resolution"`
}

// Problem is one thing that is wrong with an object.
type Problem struct {
	// field is the path of the field, such as spec.rules[0].limits[1].window.
	// +optional
	Field   string `json:"field,omitempty"`
	Reason  string `json:"reason"`
	Message string `json:"message"`
}
