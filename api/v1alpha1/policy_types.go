// Copyright The Penstock Authors.
// SPDX-License-Identifier: Apache-2.0

package v1alpha1

// PolicyRules is what policies of a namespace and of the cluster have in common.
type PolicyRules struct {
	// mode says what the policy does with requests over a limit. Enforce refuses
	// them. Shadow counts them and never refuses. Disabled does neither: the
	// policy is only checked. Absent means Enforce.
	// Example: Shadow.
	// +optional
	Mode Mode `json:"mode,omitempty"`

	// clientIP says where the client's address comes from, once for all rules.
	// Absent: the peer of the connection.
	// Example: {source: XForwardedFor, trustedCIDRs: [10.0.0.0/8]}.
	// +optional
	ClientIP *ClientIP `json:"clientIP,omitempty"`

	// pathMatching says which spellings of a path are the same path. Loose ignores
	// case, ;parameters and a trailing slash; Strict tells these apart. Escapes,
	// doubled slashes and dot segments never make a difference. Absent means Loose.
	// Example: Strict.
	// +optional
	PathMatching PathMatching `json:"pathMatching,omitempty"`

	// jwt names the issuers whose tokens are believed. Claims of tokens that no
	// provider verifies do not exist. Absent: no token is verified.
	// +optional
	JWT *JWT `json:"jwt,omitempty"`

	// exempt lifts the rules of this policy, and of no other, for requests that
	// any of its entries matches. Absent: nothing is exempt.
	// Example: {paths: [{type: Exact, value: /healthz}]}.
	// +optional
	Exempt *Exempt `json:"exempt,omitempty"`

	// evaluation says how many of the matching rules count. All: every one.
	// FirstMatch: the first, in the order of rules, unless the request can be read as
	// one that this rule is not for; such a one counts by all. Absent means All.
	// Example: FirstMatch.
	// +optional
	Evaluation Evaluation `json:"evaluation,omitempty"`

	// rules are the limits and the requests that they are for. 1 to 64; a request
	// is admitted if all limits of all rules that apply to it admit it.
	// Example: [{name: everything, limits: [{name: sustained, requests: 100, window: 1m}]}].
	// +required
	// +listType=map
	// +listMapKey=name
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=64
	Rules []Rule `json:"rules"`

	// response says what answers tell about limits. Absent: every answer carries
	// the RateLimit and X-RateLimit header fields. Where two policies apply to a
	// request, the one with the most restrictive limit decides.
	// +optional
	Response *PolicyResponse `json:"response,omitempty"`
}

// Mode says what a policy or rule does with a request over its limit.
// +kubebuilder:validation:Enum=Enforce;Shadow;Disabled
type Mode string

// Modes.
const (
	ModeEnforce  Mode = "Enforce"
	ModeShadow   Mode = "Shadow"
	ModeDisabled Mode = "Disabled"
)

// PathMatching says which spellings of a path are the same path.
// +kubebuilder:validation:Enum=Loose;Strict
type PathMatching string

// Ways to match paths.
const (
	PathMatchingLoose  PathMatching = "Loose"
	PathMatchingStrict PathMatching = "Strict"
)

// Evaluation says how many of the matching rules count.
// +kubebuilder:validation:Enum=All;FirstMatch
type Evaluation string

// Ways to evaluate rules.
const (
	EvaluationAll        Evaluation = "All"
	EvaluationFirstMatch Evaluation = "FirstMatch"
)
