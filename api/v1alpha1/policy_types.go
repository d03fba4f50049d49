// Copyright The Penstock Authors.
// SPDX-License-Identifier: Apache-2.0

package v1alpha1

// PolicyRules is what policies of a namespace and of the cluster have in common.
type PolicyRules struct {
	// +optional
	Mode Mode `json:"mode,omitempty"`
	// +optional
	ClientIP *ClientIP `json:"clientIP,omitempty"`
	// +optional
	PathMatching PathMatching `json:"pathMatching,omitempty"`
	// +optional
	JWT *JWT `json:"jwt,omitempty"`
	// +optional
	Exempt *Exempt `json:"exempt,omitempty"`
	// +optional
	Evaluation Evaluation `json:"evaluation,omitempty"`
	// +listType=map
	// +listMapKey=name
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=64
	Rules []Rule `json:"rules"`
	// +optional
	Response *PolicyResponse `json:"response,omitempty"`
}

// Mode says what a policy or rule does with a request over its limit.
// +kubebuilder:validation:Enum=Enforce;Shadow;Disabled
type Mode string

const (
	ModeEnforce  Mode = "Enforce"
	ModeShadow   Mode = "Shadow"
	ModeDisabled Mode = "Disabled"
)

// PathMatching says which spellings of a path are the same path.
// +kubebuilder:validation:Enum=Loose;Strict
type PathMatching string

const (
	PathMatchingLoose  PathMatching = "Loose"
	PathMatchingStrict PathMatching = "Strict"
)

// Evaluation says how many of the matching rules count.
// +kubebuilder:validation:Enum=All;FirstMatch
type Evaluation string

const (
	EvaluationAll        Evaluation = "All"
	EvaluationFirstMatch Evaluation = "FirstMatch"
)

// ClientIP says where the client's address comes from.
type ClientIP struct {
	// +optional
	Source ClientIPSource `json:"source,omitempty"`
	// +optional
	HeaderName string `json:"headerName,omitempty"`
	// +optional
	TrustedHops *int32 `json:"trustedHops,omitempty"`
	// +optional
	TrustedCIDRs []string `json:"trustedCIDRs,omitempty"`
	// +optional
	IPv6PrefixLength *int32 `json:"ipv6PrefixLength,omitempty"`
}

// ClientIPSource is a place where a client's address is found.
// +kubebuilder:validation:Enum=Peer;XForwardedFor;Header
type ClientIPSource string

const (
	ClientIPPeer          ClientIPSource = "Peer"
	ClientIPXForwardedFor ClientIPSource = "XForwardedFor"
	ClientIPHeader        ClientIPSource = "Header"
)

// JWT names the issuers whose tokens are believed.
type JWT struct {
	Providers []JWTProvider `json:"providers"`
}

// JWTProvider is one issuer of tokens.
type JWTProvider struct {
	Name      string   `json:"name"`
	Issuer    string   `json:"issuer"`
	Audiences []string `json:"audiences,omitempty"`
	JWKS      JWKS     `json:"jwks"`
	// +optional
	From []JWTLocation `json:"from,omitempty"`
}

// JWKS is where an issuer's keys are found.
type JWKS struct {
	URL string `json:"url"`
}

// JWTLocation is where a request carries a token.
type JWTLocation struct {
	Header *HeaderName `json:"header,omitempty"`
}

// HeaderName names a request header.
type HeaderName struct {
	Name string `json:"name"`
}

// Exempt lifts the rules of its own policy for requests that any entry matches.
type Exempt struct {
	// +optional
	CIDRs []string `json:"cidrs,omitempty"`
	// +optional
	Paths []PathMatch `json:"paths,omitempty"`
	// +optional
	Headers []ExemptHeader `json:"headers,omitempty"`
	// +optional
	When []string `json:"when,omitempty"`
}

// ExemptHeader matches a header whose value has this hash.
type ExemptHeader struct {
	Name   string `json:"name"`
	SHA256 string `json:"sha256"`
}

// PolicyResponse says what answers tell about limits.
type PolicyResponse struct {
	// +optional
	Headers []HeaderFamily `json:"headers,omitempty"`
	// +optional
	OnAllowed OnAllowed `json:"onAllowed,omitempty"`
	// +optional
	CORS CORS `json:"cors,omitempty"`
}

// HeaderFamily is a set of header fields that tell about limits.
// +kubebuilder:validation:Enum=RateLimit;XRateLimit;Draft03;None
type HeaderFamily string

const (
	HeadersRateLimit  HeaderFamily = "RateLimit"
	HeadersXRateLimit HeaderFamily = "XRateLimit"
	HeadersDraft03    HeaderFamily = "Draft03"
	HeadersNone       HeaderFamily = "None"
)

// OnAllowed says whether admitted answers carry the fields.
// +kubebuilder:validation:Enum=Include;Omit
type OnAllowed string

const (
	OnAllowedInclude OnAllowed = "Include"
	OnAllowedOmit    OnAllowed = "Omit"
)

// CORS says whether refusals can be read by browsers.
// +kubebuilder:validation:Enum=None;Echo
type CORS string

const (
	CORSNone CORS = "None"
	CORSEcho CORS = "Echo"
)
