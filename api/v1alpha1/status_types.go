// Copyright The Penstock Authors.
// SPDX-License-Identifier: Apache-2.0

package v1alpha1

import metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

// PolicyStatus is what is in force of a policy, and where.
type PolicyStatus struct {
	// observedGeneration is the last generation of the policy that the operator
	// looked at.
	// +optional
	ObservedGeneration int64 `json:"observedGeneration,omitempty"`

	// activeGeneration is the last valid generation: the one in force while the
	// newest is invalid. Absent: none is in force.
	// +optional
	ActiveGeneration int64 `json:"activeGeneration,omitempty"`

	// revision is a hash of what the active generation was compiled to. Equal
	// revisions decide alike.
	// Example: b3f1c0a9d2e4.
	// +optional
	// +kubebuilder:validation:MaxLength=64
	Revision string `json:"revision,omitempty"`

	// pods counts the pods that the policy selects.
	// +optional
	Pods *PodCounts `json:"pods,omitempty"`

	// effective shows what absent fields were taken to mean.
	// +optional
	Effective *Effective `json:"effective,omitempty"`

	// problems are what is wrong with the policy, at most 32. One with the reason
	// UnverifiedToken, LiteralPath, ExemptsEveryone, TrustsEveryone or PeerIsProxy is a
	// warning: the policy is accepted with it.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=32
	Problems []Problem `json:"problems,omitempty"`

	// conditions are Accepted (the newest generation is valid), Programmed (it is
	// in the store), Enforced (every selected pod has acknowledged it), Ready (all
	// of these) and Stalled (a person must act).
	// +optional
	// +listType=map
	// +listMapKey=type
	// +kubebuilder:validation:MaxItems=8
	Conditions []metav1.Condition `json:"conditions,omitempty"`
}

// PodCounts counts the pods that a policy selects.
type PodCounts struct {
	// selected is how many running pods the policy selects.
	// +optional
	Selected int32 `json:"selected"`

	// injected is how many of these have a sidecar.
	// +optional
	Injected int32 `json:"injected"`

	// enforcing is how many of these have acknowledged the policy, and serve no TLS at
	// a port that it is for: that passes through uncounted.
	// +optional
	Enforcing int32 `json:"enforcing"`

	// degraded is how many of these decide without the store at the moment, see
	// onStoreFailure.
	// +optional
	Degraded int32 `json:"degraded"`

	// summary is enforcing/selected, for people.
	// Example: 7/8.
	// +optional
	// +kubebuilder:validation:MaxLength=32
	Summary string `json:"summary"`
}

// Effective shows what absent fields were taken to mean.
type Effective struct {
	// store is the name of the RateLimitStore in which the policy counts.
	// Example: default.
	// +optional
	// +kubebuilder:validation:MaxLength=253
	Store string `json:"store"`

	// mode is the policy's mode, Enforce where it names none.
	// +optional
	Mode Mode `json:"mode,omitempty"`

	// rules is how many rules are in force.
	// +optional
	Rules int32 `json:"rules"`

	// maxLimitsPerRequest is how many limits one request can meet at most, over all
	// policies of its pod. At most 32 are allowed.
	// +optional
	MaxLimitsPerRequest int32 `json:"maxLimitsPerRequest"`

	// defaults are the defaults that were taken for absent fields.
	// +optional
	Defaults *EffectiveDefaults `json:"defaults,omitempty"`

	// coarse are the limits that are counted in steps of time.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=512
	Coarse []CoarseLimit `json:"coarse,omitempty"`
}

// EffectiveDefaults are the defaults that were taken for absent fields.
type EffectiveDefaults struct {
	// algorithm is that of limits that name none.
	// +optional
	Algorithm Algorithm `json:"algorithm,omitempty"`

	// pathMatching is the policy's if it names none.
	// +optional
	PathMatching PathMatching `json:"pathMatching,omitempty"`

	// onStoreFailure is that of rules that name none.
	// +optional
	OnStoreFailure OnStoreFailure `json:"onStoreFailure,omitempty"`
}

// CoarseLimit is a limit that is counted in steps.
type CoarseLimit struct {
	// limit is the name of the rule and of its limit: rule/limit.
	// Example: login/daily.
	// +optional
	// +kubebuilder:validation:MaxLength=256
	Limit string `json:"limit"`

	// resolution is the length of a step.
	// Example: 8s.
	// +optional
	Resolution Duration `json:"resolution"`
}

// Problem is one thing that is wrong with an object.
type Problem struct {
	// field is the path of the field, absent if it is not one field.
	// Example: spec.rules[0].limits[1].window.
	// +optional
	// +kubebuilder:validation:MaxLength=1024
	Field string `json:"field,omitempty"`

	// reason names the kind of problem, in CamelCase.
	// Example: UnresolvedPathParam.
	// +required
	// +kubebuilder:validation:MaxLength=256
	Reason string `json:"reason"`

	// message says what is wrong and how to mend it.
	// +required
	// +kubebuilder:validation:MaxLength=4096
	Message string `json:"message"`
}
