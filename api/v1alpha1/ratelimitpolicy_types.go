// Copyright The Penstock Authors.
// SPDX-License-Identifier: Apache-2.0

package v1alpha1

import metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

// RateLimitPolicy limits HTTP requests to pods of its own namespace. It takes
// effect on pods that have a Penstock sidecar; status.pods tells how many of the
// selected pods enforce it.
//
// +kubebuilder:object:root=true
// +kubebuilder:subresource:status
// +kubebuilder:resource:shortName=rlpol,categories=penstock
// +kubebuilder:printcolumn:name=Target,type=string,JSONPath=`.spec['targetRefs','selector']..['name','matchLabels']`,description="The first target, or the labels of the selector; empty: every pod of the namespace."
// +kubebuilder:printcolumn:name=Mode,type=string,JSONPath=`.status.effective.mode`,description="Enforce, Shadow or Disabled; empty while nothing of the policy is in force."
// +kubebuilder:printcolumn:name=Pods,type=string,JSONPath=`.status.pods.summary`,description="Pods that enforce the policy / pods that it selects."
// +kubebuilder:printcolumn:name=Ready,type=string,JSONPath=`.status.conditions[?(@.type=="Ready")].status`
// +kubebuilder:printcolumn:name=Reason,type=string,JSONPath=`.status.conditions[?(@.type=="Ready")].reason`
// +kubebuilder:printcolumn:name=Age,type=date,JSONPath=`.metadata.creationTimestamp`
type RateLimitPolicy struct {
	metav1.TypeMeta `json:",inline"`
	// metadata is the standard object metadata.
	// +optional
	metav1.ObjectMeta `json:"metadata,omitzero"`

	// spec is what is wanted: which pods are limited, and how.
	// +required
	Spec RateLimitPolicySpec `json:"spec,omitzero"`
	// status is what is so: which generation is in force, and on how many pods.
	// +optional
	Status PolicyStatus `json:"status,omitzero"`
}

// RateLimitPolicyList is a list of RateLimitPolicy.
//
// +kubebuilder:object:root=true
type RateLimitPolicyList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitzero"`
	Items           []RateLimitPolicy `json:"items"`
}

// RateLimitPolicySpec says which pods are limited, and how.
//
// +kubebuilder:validation:XValidation:rule="has(self.targetRefs) || has(self.selector)",reason=FieldValueRequired,fieldPath=.targetRefs,message="name the limited pods: set targetRefs (workloads by name), or selector (pods by label; selector: {} is every pod of the namespace)"
// +kubebuilder:validation:XValidation:rule="!(has(self.targetRefs) && has(self.selector))",reason=FieldValueForbidden,fieldPath=.selector,message="targetRefs and selector exclude each other: remove one of them"
// +kubebuilder:validation:XValidation:rule="has(self.targetRefs) || self.rules.all(r, !has(r.scope) || r.scope != 'Target')",reason=FieldValueInvalid,fieldPath=.rules,message="scope: Target counts each of targetRefs apart: name workloads in targetRefs, or set scope: Policy"
type RateLimitPolicySpec struct {
	// targetRefs names the workloads whose pods are limited: those that the
	// target's own label selector selects. Exactly one of targetRefs and selector
	// is set. All targets share the counters of a rule unless its scope says
	// otherwise. At most 16.
	// Example: [{group: apps, kind: Deployment, name: web}].
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=16
	TargetRefs []TargetReference `json:"targetRefs,omitempty"`

	// selector selects the limited pods of this namespace by their labels; {} is
	// every pod. Exactly one of targetRefs and selector is set.
	// Example: {matchLabels: {app: web}}.
	// +optional
	Selector *metav1.LabelSelector `json:"selector,omitempty"`

	PolicyRules `json:",inline"`
}

// TargetReference names a workload or a Service of the policy's namespace.
//
// +kubebuilder:validation:XValidation:rule="self.kind == 'Service' ? self.group.size() == 0 : self.group == 'apps'",reason=FieldValueInvalid,fieldPath=.group,message="the group does not fit the kind: write group: apps for Deployment, StatefulSet and DaemonSet, group: \"\" for Service"
// +kubebuilder:validation:XValidation:rule="!has(self.sectionName) || self.kind == 'Service'",reason=FieldValueForbidden,fieldPath=.sectionName,message="only a Service has named ports: remove sectionName, or target the Service"
type TargetReference struct {
	// group is the API group of the target: apps for Deployment, StatefulSet and
	// DaemonSet, the empty string for Service.
	// Example: apps.
	// +required
	// +kubebuilder:validation:Enum="";apps
	Group string `json:"group"`

	// kind is the kind of the target: Deployment, StatefulSet, DaemonSet or Service.
	// Example: Deployment.
	// +required
	Kind TargetKind `json:"kind"`

	// name is the name of the target, in the policy's namespace.
	// Example: web.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	// +kubebuilder:validation:Pattern=`^[a-z0-9]([-a-z0-9.]*[a-z0-9])?$`
	Name string `json:"name"`

	// sectionName is the name of a port of the Service: only requests to that port
	// are limited: to the port of the pods that its targetPort means. Absent: requests
	// to all its ports. Only with kind Service, and a port of TCP.
	// Example: http.
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=63
	// +kubebuilder:validation:Pattern=`^[a-z0-9]([-a-z0-9]*[a-z0-9])?$`
	SectionName string `json:"sectionName,omitempty"`
}

// TargetKind is a kind that a policy can target.
// +kubebuilder:validation:Enum=Deployment;StatefulSet;DaemonSet;Service
type TargetKind string

// Kinds that a policy can target.
const (
	TargetDeployment  TargetKind = "Deployment"
	TargetStatefulSet TargetKind = "StatefulSet"
	TargetDaemonSet   TargetKind = "DaemonSet"
	TargetService     TargetKind = "Service"
)
