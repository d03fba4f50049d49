// Copyright The Penstock Authors.
// SPDX-License-Identifier: Apache-2.0

package ruleset

// Response says what answers tell about limits.
type Response struct {
	// Headers are the families of header fields to send; none sends none.
	Headers []HeaderFamily `json:"headers,omitempty"`
	// OmitOnAllowed leaves the fields out of admitted answers.
	OmitOnAllowed bool `json:"omitOnAllowed,omitempty"`
	// EchoOrigin lets scripts of the request's origin read refusals, and counts no
	// preflight request.
	EchoOrigin bool `json:"echoOrigin,omitempty"`
}

// Refusal is how a rule refuses.
type Refusal struct {
	// StatusCode is from 400 to 599.
	StatusCode int `json:"statusCode"`
	// Body is nil for the usual problem document.
	Body *Body `json:"body,omitempty"`
}

// Body is the body of an answer.
type Body struct {
	ContentType string `json:"contentType"`
	Value       string `json:"value"`
}

// HeaderFamily is a set of header fields that tell about limits.
type HeaderFamily string

const (
	// HeadersRateLimit are RateLimit and RateLimit-Policy
	// (draft-ietf-httpapi-ratelimit-headers).
	HeadersRateLimit HeaderFamily = "RateLimit"
	// HeadersXRateLimit are X-RateLimit-Limit, -Remaining and -Reset.
	HeadersXRateLimit HeaderFamily = "XRateLimit"
	// HeadersDraft03 are RateLimit-Limit, -Remaining and -Reset, as the third
	// version of the draft had them.
	HeadersDraft03 HeaderFamily = "Draft03"
)
