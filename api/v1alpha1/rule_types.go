// Copyright The Penstock Authors.
// SPDX-License-Identifier: Apache-2.0

package v1alpha1

// Rule is one rule of a policy.
type Rule struct {
	Name string `json:"name"`
	// +optional
	Matches []Match `json:"matches,omitempty"`
	// +optional
	When []string `json:"when,omitempty"`
	// +optional
	Key []KeyPart `json:"key,omitempty"`
	// +optional
	Limits []Limit `json:"limits,omitempty"`
	// +optional
	Tiers []Tier `json:"tiers,omitempty"`
	// +optional
	Cost *Cost `json:"cost,omitempty"`
	// +optional
	Mode Mode `json:"mode,omitempty"`
	// +optional
	EnforcePercent *int32 `json:"enforcePercent,omitempty"`
	// +optional
	Scope Scope `json:"scope,omitempty"`
	// +optional
	Precision Precision `json:"precision,omitempty"`
	// +optional
	OnStoreFailure OnStoreFailure `json:"onStoreFailure,omitempty"`
	// +optional
	Local *Local `json:"local,omitempty"`
	// +optional
	Response *RuleResponse `json:"response,omitempty"`
}

// Match is one alternative of a rule's matches: all that it names must hold.
type Match struct {
	// +optional
	Path *PathMatch `json:"path,omitempty"`
	// +optional
	Methods []string `json:"methods,omitempty"`
	// +optional
	Hosts []string `json:"hosts,omitempty"`
	// +optional
	Headers []HeaderMatch `json:"headers,omitempty"`
	// +optional
	QueryParams []QueryParamMatch `json:"queryParams,omitempty"`
}

// PathMatch matches a path in canonical form.
type PathMatch struct {
	// +optional
	Type  PathMatchType `json:"type,omitempty"`
	Value string        `json:"value"`
}

// PathMatchType says how a path is compared.
// +kubebuilder:validation:Enum=Exact;PathPrefix;Template;RegularExpression
type PathMatchType string

const (
	PathMatchExact             PathMatchType = "Exact"
	PathMatchPathPrefix        PathMatchType = "PathPrefix"
	PathMatchTemplate          PathMatchType = "Template"
	PathMatchRegularExpression PathMatchType = "RegularExpression"
)

// ValueMatchType says how a header's or a query parameter's value is compared.
// +kubebuilder:validation:Enum=Exact;RegularExpression;Present;Absent
type ValueMatchType string

const (
	ValueMatchExact             ValueMatchType = "Exact"
	ValueMatchRegularExpression ValueMatchType = "RegularExpression"
	ValueMatchPresent           ValueMatchType = "Present"
	ValueMatchAbsent            ValueMatchType = "Absent"
)

// HeaderMatch matches a request header.
type HeaderMatch struct {
	Name string `json:"name"`
	// +optional
	Type ValueMatchType `json:"type,omitempty"`
	// +optional
	Value string `json:"value,omitempty"`
}

// QueryParamMatch matches a query parameter.
type QueryParamMatch struct {
	Name string `json:"name"`
	// +optional
	Type ValueMatchType `json:"type,omitempty"`
	// +optional
	Value string `json:"value,omitempty"`
}

// KeyPart is one part of the identity that a rule counts by.
type KeyPart struct {
	Name string      `json:"name"`
	From []KeySource `json:"from"`
	// +optional
	OnMissing OnMissing `json:"onMissing,omitempty"`
}

// OnMissing says what happens to requests without a value for a part of the key.
// +kubebuilder:validation:Enum=Share;Skip;Deny
type OnMissing string

const (
	OnMissingShare OnMissing = "Share"
	OnMissingSkip  OnMissing = "Skip"
	OnMissingDeny  OnMissing = "Deny"
)

// KeySource is one place where a part of the key is found: exactly one field.
type KeySource struct {
	// +optional
	ClientIP *ClientIPKey `json:"clientIP,omitempty"`
	// +optional
	Header *HeaderName `json:"header,omitempty"`
	// +optional
	JWTClaim *JWTClaimKey `json:"jwtClaim,omitempty"`
	// +optional
	Cookie *NamedKey `json:"cookie,omitempty"`
	// +optional
	QueryParam *NamedKey `json:"queryParam,omitempty"`
	// +optional
	PathParam *NamedKey `json:"pathParam,omitempty"`
	// +optional
	Path *PathKey `json:"path,omitempty"`
	// +optional
	Method *MethodKey `json:"method,omitempty"`
	// +optional
	Host *HostKey `json:"host,omitempty"`
	// +optional
	Expression string `json:"expression,omitempty"`
}

// ClientIPKey takes the client's address.
type ClientIPKey struct{}

// PathKey takes the path in canonical form.
type PathKey struct{}

// MethodKey takes the method.
type MethodKey struct{}

// HostKey takes the host.
type HostKey struct{}

// NamedKey takes the value of this name.
type NamedKey struct {
	Name string `json:"name"`
}

// JWTClaimKey takes a claim of a token.
type JWTClaimKey struct {
	Name string `json:"name"`
	// +optional
	Provider string `json:"provider,omitempty"`
	// +optional
	Verification JWTVerification `json:"verification,omitempty"`
}

// JWTVerification says whether a token must be verified.
// +kubebuilder:validation:Enum=Required;None
type JWTVerification string

const (
	JWTVerificationRequired JWTVerification = "Required"
	JWTVerificationNone     JWTVerification = "None"
)

// Scope says what shares a count.
// +kubebuilder:validation:Enum=Policy;Target;Pod
type Scope string

const (
	ScopePolicy Scope = "Policy"
	ScopeTarget Scope = "Target"
	ScopePod    Scope = "Pod"
)

// Precision says how exactly a rule counts.
// +kubebuilder:validation:Enum=Exact;Leased
type Precision string

const (
	PrecisionExact  Precision = "Exact"
	PrecisionLeased Precision = "Leased"
)

// OnStoreFailure decides while the store gives no verdict.
// +kubebuilder:validation:Enum=Local;Allow;Deny
type OnStoreFailure string

const (
	OnStoreFailureLocal OnStoreFailure = "Local"
	OnStoreFailureAllow OnStoreFailure = "Allow"
	OnStoreFailureDeny  OnStoreFailure = "Deny"
)

// Local tunes onStoreFailure: Local.
type Local struct {
	// looseness is a decimal number such as "1.5".
	// +optional
	Looseness string `json:"looseness,omitempty"`
}

// RuleResponse is how a rule's refusal looks.
type RuleResponse struct {
	// +optional
	StatusCode *int32 `json:"statusCode,omitempty"`
	// +optional
	Body *ResponseBody `json:"body,omitempty"`
}

// ResponseBody is the body of a refusal.
type ResponseBody struct {
	ContentType string `json:"contentType"`
	Value       string `json:"value"`
}
