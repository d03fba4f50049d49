// Copyright The Penstock Authors.
// SPDX-License-Identifier: Apache-2.0

package v1alpha1

// KeyPart is one part of the identity that a rule counts by.
type KeyPart struct {
	// name names the part in status and answers. A DNS-1123 label of at most 63
	// characters, unique in the rule.
	// Example: client.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=63
	// +kubebuilder:validation:Pattern=`^[a-z0-9]([-a-z0-9]*[a-z0-9])?$`
	Name string `json:"name"`

	// from are the places where the value is looked for: the first that yields one
	// counts. 1 to 4. Equal values from different places are different identities.
	// Example: [{header: {name: X-API-Key}}, {clientIP: {}}].
	// +required
	// +listType=atomic
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=4
	From []KeySource `json:"from"`

	// onMissing says what happens to requests for which no place yields a value.
	// Share: they share one count. Skip: the rule does not apply to them. Deny:
	// they are refused. Absent means Share.
	// Example: Skip.
	// +optional
	OnMissing OnMissing `json:"onMissing,omitempty"`
}

// OnMissing says what happens to requests without a value for a part of the key.
// +kubebuilder:validation:Enum=Share;Skip;Deny
type OnMissing string

// Choices for requests without a value.
const (
	OnMissingShare OnMissing = "Share"
	OnMissingSkip  OnMissing = "Skip"
	OnMissingDeny  OnMissing = "Deny"
)

// KeySource is one place where a part of the key is found: exactly one field.
// +kubebuilder:validation:MinProperties=1
// +kubebuilder:validation:MaxProperties=1
type KeySource struct {
	// clientIP takes the client's address, see spec.clientIP.
	// Example: {}.
	// +optional
	ClientIP *ClientIPKey `json:"clientIP,omitempty"`

	// header takes a request header.
	// Example: {name: X-API-Key}.
	// +optional
	Header *HeaderName `json:"header,omitempty"`

	// jwtClaim takes a claim of a token.
	// Example: {name: sub, provider: idp}.
	// +optional
	JWTClaim *JWTClaimKey `json:"jwtClaim,omitempty"`

	// cookie takes a cookie.
	// Example: {name: session}.
	// +optional
	Cookie *NamedKey `json:"cookie,omitempty"`

	// queryParam takes a query parameter.
	// Example: {name: api_key}.
	// +optional
	QueryParam *NamedKey `json:"queryParam,omitempty"`

	// pathParam takes a parameter of the rule's path templates.
	// Example: {name: id}.
	// +optional
	PathParam *NamedKey `json:"pathParam,omitempty"`

	// path takes the path in canonical form.
	// Example: {}.
	// +optional
	Path *PathKey `json:"path,omitempty"`

	// method takes the method.
	// Example: {}.
	// +optional
	Method *MethodKey `json:"method,omitempty"`

	// host takes the host, in lower case and without port.
	// Example: {}.
	// +optional
	Host *HostKey `json:"host,omitempty"`

	// expression takes the string that a CEL expression over the request yields.
	// One that fails or yields an empty string counts as missing. At most 1024
	// characters.
	// Example: "request.headers['x-tenant'].lowerAscii()".
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=1024
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
	// name is the name of the cookie or parameter. Case matters. At most 63
	// characters, no white space.
	// Example: session.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=63
	// +kubebuilder:validation:Pattern=`^\S+$`
	Name string `json:"name"`
}

// JWTClaimKey takes a claim of a token.
//
// +kubebuilder:validation:XValidation:rule="!has(self.provider) || !has(self.verification) || self.verification != 'None'",reason=FieldValueForbidden,fieldPath=.provider,message="an unverified token has no provider: remove provider, or verification: None"
type JWTClaimKey struct {
	// name is the name of the claim, of at most 256 characters. One with dots that is
	// no claim itself leads into claims that are objects. A value is a text, a number
	// or a boolean; lists and objects count as missing.
	// Example: sub.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=256
	Name string `json:"name"`

	// provider is the name of a provider of spec.jwt that must have verified the
	// token. Absent: any of them.
	// Example: idp.
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=63
	// +kubebuilder:validation:Pattern=`^[a-z0-9]([-a-z0-9]*[a-z0-9])?$`
	Provider string `json:"provider,omitempty"`

	// verification says whether the token must be verified. Required: a claim of a
	// token that no provider verifies is missing. None: any token is believed, for
	// where something before the pod verifies; status warns of it. It is looked for
	// where the providers of spec.jwt look, or in Authorization. Absent means Required.
	// Example: None.
	// +optional
	Verification JWTVerification `json:"verification,omitempty"`
}

// JWTVerification says whether a token must be verified.
// +kubebuilder:validation:Enum=Required;None
type JWTVerification string

// Choices of verification.
const (
	JWTVerificationRequired JWTVerification = "Required"
	JWTVerificationNone     JWTVerification = "None"
)
