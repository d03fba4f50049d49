// Copyright The Penstock Authors.
// SPDX-License-Identifier: Apache-2.0

package v1alpha1

// Rule says which requests are counted together, and how many are admitted.
//
// +kubebuilder:validation:XValidation:rule="has(self.limits) || has(self.tiers)",reason=FieldValueRequired,fieldPath=.limits,message="a rule without limits limits nothing: add limits, or tiers that have some"
// +kubebuilder:validation:XValidation:rule="!has(self.local) || !has(self.onStoreFailure) || self.onStoreFailure == 'Local'",reason=FieldValueForbidden,fieldPath=.local,message="local tunes onStoreFailure: Local: set that, or remove local"
// +kubebuilder:validation:XValidation:rule="!has(self.cost) || !has(self.cost.countOn) || ((!has(self.limits) || self.limits.all(l, !has(l.algorithm) || !(l.algorithm in ['LeakyBucket', 'Concurrency']))) && (!has(self.tiers) || self.tiers.all(t, !has(t.limits) || t.limits.all(l, !has(l.algorithm) || !(l.algorithm in ['LeakyBucket', 'Concurrency'])))))",reason=FieldValueForbidden,fieldPath=.cost.countOn,message="what LeakyBucket and Concurrency admitted cannot be given back: remove countOn, or choose another algorithm for all limits of the rule"
// +kubebuilder:validation:XValidation:rule="!has(self.cost) || !has(self.cost.response) || ((!has(self.limits) || self.limits.all(l, !has(l.algorithm) || !(l.algorithm in ['LeakyBucket', 'Concurrency']))) && (!has(self.tiers) || self.tiers.all(t, !has(t.limits) || t.limits.all(l, !has(l.algorithm) || !(l.algorithm in ['LeakyBucket', 'Concurrency'])))))",reason=FieldValueForbidden,fieldPath=.cost.response,message="LeakyBucket and Concurrency cannot be charged after the answer: remove response, or give these limits a rule of their own"
// +kubebuilder:validation:XValidation:rule="!has(self.precision) || self.precision != 'Leased' || ((!has(self.limits) || self.limits.all(l, !has(l.algorithm) || !(l.algorithm in ['LeakyBucket', 'Concurrency']))) && (!has(self.tiers) || self.tiers.all(t, !has(t.limits) || t.limits.all(l, !has(l.algorithm) || !(l.algorithm in ['LeakyBucket', 'Concurrency'])))))",reason=FieldValueInvalid,fieldPath=.precision,message="LeakyBucket and Concurrency cannot be leased: set precision: Exact, or choose another algorithm for all limits of the rule"
// +kubebuilder:validation:XValidation:rule="!has(self.precision) || self.precision != 'Leased' || !has(self.cost) || (!has(self.cost.countOn) && !has(self.cost.response))",reason=FieldValueInvalid,fieldPath=.precision,message="what was leased cannot be corrected: set precision: Exact, or remove cost.countOn and cost.response"
// +kubebuilder:validation:XValidation:rule="!has(self.scope) || self.scope != 'Pod' || ((!has(self.precision) || self.precision != 'Leased') && !has(self.onStoreFailure) && !has(self.local))",reason=FieldValueInvalid,fieldPath=.scope,message="scope: Pod counts in memory and never asks the store: remove precision: Leased, onStoreFailure and local, or set scope: Policy"
type Rule struct {
	// name names the rule in status, metrics and answers, and is part of its
	// counters' keys: another name starts fresh. A DNS-1123 label of at most 63
	// characters, unique in the policy.
	// Example: login.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=63
	// +kubebuilder:validation:Pattern=`^[a-z0-9]([-a-z0-9]*[a-z0-9])?$`
	Name string `json:"name"`

	// matches are alternatives: the rule applies to requests that any of them
	// matches. At most 8. Absent: every request.
	// Example: [{path: {type: Exact, value: /login}, methods: [POST]}].
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=8
	Matches []Match `json:"matches,omitempty"`

	// when are CEL expressions over the request that must all hold besides a match.
	// One that fails counts as holding. At most 8, each of at most 1024 characters.
	// Absent: no further condition.
	// Example: ["request.headers['x-test'] != '1'"].
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=8
	// +kubebuilder:validation:items:MinLength=1
	// +kubebuilder:validation:items:MaxLength=1024
	When []string `json:"when,omitempty"`

	// key are the parts of the identity that the rule counts by: requests with
	// equal parts share a count. At most 4. Absent: one count for all requests.
	// Example: [{name: client, from: [{clientIP: {}}]}].
	// +optional
	// +listType=map
	// +listMapKey=name
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=4
	Key []KeyPart `json:"key,omitempty"`

	// limits must all admit a request. 1 to 8. Absent only with tiers: requests of
	// no tier are then not limited by this rule.
	// Example: [{name: sustained, requests: 100, window: 1m}].
	// +optional
	// +listType=map
	// +listMapKey=name
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=8
	Limits []Limit `json:"limits,omitempty"`

	// tiers replace limits for some requests: the first whose expression holds, in
	// order, counts. At most 8. Absent: limits are for every request.
	// Example: [{name: staff, when: "request.headers['x-plan'] == 'staff'", unlimited: {}}].
	// +optional
	// +listType=map
	// +listMapKey=name
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=8
	Tiers []Tier `json:"tiers,omitempty"`

	// cost says how much a request counts. Absent: 1.
	// +optional
	Cost *Cost `json:"cost,omitempty"`

	// mode is as the policy's, for this rule; the weaker of the two is in force
	// (Disabled is weaker than Shadow, Shadow than Enforce). Absent means Enforce.
	// Example: Shadow.
	// +optional
	Mode Mode `json:"mode,omitempty"`

	// enforcePercent is the share, in percent, of the requests over the limit that
	// is refused; for the others the rule acts as with mode Shadow. It is drawn for
	// each request and rule, before anything is decided. 0 to 100: 0 is mode Shadow.
	// Absent means 100.
	// Example: 25.
	// +optional
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=100
	EnforcePercent *int32 `json:"enforcePercent,omitempty"`

	// scope says what shares a count. Policy: all targets and replicas. Target: the
	// replicas of one target; only with targetRefs, and a pod of several targets counts
	// for the first of them. Pod: each pod counts alone, in memory, and never asks the
	// store; not with precision Leased, onStoreFailure and local. Absent means Policy.
	// Example: Target.
	// +optional
	Scope Scope `json:"scope,omitempty"`

	// precision says how exactly the rule counts. Exact: each request asks the
	// store. Leased: pods lease shares of a limit for a second, which spares calls; what
	// is leased out may be admitted on top of the limit, or be missing from it meanwhile.
	// Absent means Exact.
	// Example: Leased.
	// +optional
	Precision Precision `json:"precision,omitempty"`

	// onStoreFailure decides while the store gives no verdict. Local: each pod
	// limits on its own, to its share of the limit. Allow: requests pass. Deny:
	// requests are refused with status 503. Absent means Local.
	// Example: Allow.
	// +optional
	OnStoreFailure OnStoreFailure `json:"onStoreFailure,omitempty"`

	// local tunes onStoreFailure: Local. Only with it. Absent: {looseness: "1.5"}.
	// Example: {looseness: "2"}.
	// +optional
	Local *Local `json:"local,omitempty"`

	// response is how a refusal looks. Of several rules that refuse a request, the one
	// of the limit with the longest wait decides. Absent: status 429 and a body of type
	// application/problem+json.
	// Example: {statusCode: 503}.
	// +optional
	Response *RuleResponse `json:"response,omitempty"`
}

// Scope says what shares a count.
// +kubebuilder:validation:Enum=Policy;Target;Pod
type Scope string

// Scopes.
const (
	ScopePolicy Scope = "Policy"
	ScopeTarget Scope = "Target"
	ScopePod    Scope = "Pod"
)

// Precision says how exactly a rule counts.
// +kubebuilder:validation:Enum=Exact;Leased
type Precision string

// Precisions.
const (
	PrecisionExact  Precision = "Exact"
	PrecisionLeased Precision = "Leased"
)

// OnStoreFailure decides while the store gives no verdict.
// +kubebuilder:validation:Enum=Local;Allow;Deny
type OnStoreFailure string

// Choices while the store gives no verdict.
const (
	OnStoreFailureLocal OnStoreFailure = "Local"
	OnStoreFailureAllow OnStoreFailure = "Allow"
	OnStoreFailureDeny  OnStoreFailure = "Deny"
)

// Local tunes onStoreFailure: Local.
type Local struct {
	// looseness is a factor: while the store gives no verdict, each pod allows
	// limit × looseness ÷ live pods. A decimal number from 0.001 to 999.999 with at
	// most three decimals, as a string. Absent means "1.5".
	// Example: "2".
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=7
	// +kubebuilder:validation:Pattern=`^[0-9]{1,3}(\.[0-9]{1,3})?$`
	// +kubebuilder:validation:XValidation:rule="double(self) > 0.0",reason=FieldValueInvalid,message="looseness 0 would admit nothing: write a number above 0, such as \"1.5\", or onStoreFailure: Deny"
	Looseness string `json:"looseness,omitempty"`
}
