// Copyright The Penstock Authors.
// SPDX-License-Identifier: Apache-2.0

package ruleset

// KeyPart is one part of an identity: the first source that yields a value.
type KeyPart struct {
	Name      string      `json:"name"`
	From      []KeySource `json:"from"`
	OnMissing OnMissing   `json:"onMissing"`
}

// KeySource is one place where a part of an identity may come from.
type KeySource struct {
	Kind KeySourceKind `json:"kind"`
	// Name is that of the header, in lower case, of the cookie, of the query or path
	// parameter, of the claim, or the expression's text; empty for other kinds.
	Name string `json:"name,omitempty"`
	// Provider names the provider that must have verified the token, for JWTClaim;
	// empty is any.
	Provider string `json:"provider,omitempty"`
	// Unverified believes any token, for JWTClaim.
	Unverified bool `json:"unverified,omitempty"`
}

// KeySourceKind is the kind of a key source. It enters the identity, so that
// equal values from sources of different kinds are different clients.
type KeySourceKind string

const (
	// SourceClientIP is the client's address.
	SourceClientIP KeySourceKind = "ClientIP"
	// SourceHeader is a request header.
	SourceHeader KeySourceKind = "Header"
	// SourceJWTClaim is a claim of a token.
	SourceJWTClaim KeySourceKind = "JWTClaim"
	// SourceCookie is a cookie.
	SourceCookie KeySourceKind = "Cookie"
	// SourceQueryParam is a query parameter.
	SourceQueryParam KeySourceKind = "QueryParam"
	// SourcePathParam is a parameter of a path template of the rule.
	SourcePathParam KeySourceKind = "PathParam"
	// SourcePath is the path in canonical form.
	SourcePath KeySourceKind = "Path"
	// SourceMethod is the method as sent.
	SourceMethod KeySourceKind = "Method"
	// SourceHost is the host in lower case, without port.
	SourceHost KeySourceKind = "Host"
	// SourceExpression is the string that an expression over the request yields.
	SourceExpression KeySourceKind = "Expression"
)

// OnMissing says what happens to a request in which no source yields a value.
type OnMissing string

const (
	// MissingShare counts all such requests together.
	MissingShare OnMissing = "Share"
	// MissingSkip makes the rule not apply.
	MissingSkip OnMissing = "Skip"
	// MissingDeny refuses the request.
	MissingDeny OnMissing = "Deny"
)
