// Copyright The Penstock Authors.
// SPDX-License-Identifier: Apache-2.0

package v1alpha1

// JWT names the issuers whose tokens are believed.
type JWT struct {
	// providers are the issuers. 1 to 4.
	// Example: [{name: idp, issuer: https://id.example.com, jwks: {url: https://id.example.com/jwks}}].
	// +required
	// +listType=map
	// +listMapKey=name
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=4
	Providers []JWTProvider `json:"providers"`
}

// JWTProvider is one issuer of tokens.
type JWTProvider struct {
	// name is what sources of a key call this issuer. A DNS-1123 label of at most
	// 63 characters.
	// Example: idp.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=63
	// +kubebuilder:validation:Pattern=`^[a-z0-9]([-a-z0-9]*[a-z0-9])?$`
	Name string `json:"name"`

	// issuer is what the claim iss of a token must equal.
	// Example: https://id.example.com.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=256
	Issuer string `json:"issuer"`

	// audiences are the values of which the claim aud of a token must hold one. At
	// most 8. Absent: any audience.
	// Example: [shop].
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=8
	// +kubebuilder:validation:items:MinLength=1
	// +kubebuilder:validation:items:MaxLength=256
	Audiences []string `json:"audiences,omitempty"`

	// jwks is where the issuer's public keys are found: exactly one of url and inline.
	// Example: {url: https://id.example.com/jwks}.
	// +required
	JWKS JWKS `json:"jwks,omitzero"`

	// from are the places where a request carries the token, read in this order until
	// a token is verified. One that is there with different values is ambiguous. At most
	// 4. Absent: the header Authorization with the scheme Bearer.
	// Example: [{header: {name: X-Id-Token}}].
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=4
	From []JWTLocation `json:"from,omitempty"`
}

// JWKS is where an issuer's keys are found: exactly one of url and inline. Keys are
// RSA of 2048 to 8192 bits, P-256, P-384, P-521 or Ed25519; at most 64 in a set.
// +kubebuilder:validation:MinProperties=1
// +kubebuilder:validation:MaxProperties=1
type JWKS struct {
	// url is the address of the JSON Web Key Set (RFC 7517). Each sidecar fetches it
	// over TLS, trusting the certificates of public authorities; redirects are not
	// followed. Until the first fetch has succeeded no token is verified.
	// Example: https://id.example.com/jwks.
	// +optional
	// +kubebuilder:validation:MinLength=9
	// +kubebuilder:validation:MaxLength=512
	// +kubebuilder:validation:Pattern=`^https://[^\s/?#]+([/?][^\s#]*)?$`
	URL string `json:"url,omitempty"`

	// inline is the JSON Web Key Set itself, public keys only. At most 32768
	// characters in all providers of the policy together.
	// Example: '{"keys": [{"kty": "OKP", "crv": "Ed25519", "kid": "1", "x": "…"}]}'.
	// +optional
	// +kubebuilder:validation:MinLength=2
	// +kubebuilder:validation:MaxLength=32768
	Inline string `json:"inline,omitempty"`
}

// JWTLocation is where a request carries a token: exactly one field.
// +kubebuilder:validation:MinProperties=1
// +kubebuilder:validation:MaxProperties=1
type JWTLocation struct {
	// header is a request header with the token, after the scheme Bearer if the
	// header is Authorization.
	// Example: {name: Authorization}.
	// +optional
	Header *HeaderName `json:"header,omitempty"`
}

// HeaderName names a request header.
type HeaderName struct {
	// name is the name of the header. Case does not matter. At most 63 characters.
	// Example: X-API-Key.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=63
	// +kubebuilder:validation:Pattern=`^[A-Za-z0-9!#$%&'*+.^_|~-]+$`
	Name string `json:"name"`
}
