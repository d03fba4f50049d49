// Copyright The Penstock Authors.
// SPDX-License-Identifier: Apache-2.0

package ruleset

// JWTProvider is an issuer whose tokens are believed.
type JWTProvider struct {
	Name string `json:"name"`
	// Issuer is what the claim iss must equal.
	Issuer string `json:"issuer"`
	// Audiences are the values of which the claim aud must hold one; none is any.
	Audiences []string `json:"audiences,omitempty"`
	// JWKSURL is where the keys are fetched; empty with JWKS.
	JWKSURL string `json:"jwksURL,omitempty"`
	// JWKS are the keys themselves, as a JSON Web Key Set (RFC 7517); empty with JWKSURL.
	JWKS string `json:"jwks,omitempty"`
	// Headers are where a request carries the token, in lower case, read in this order
	// until a token is verified.
	Headers []string `json:"headers"`
}
