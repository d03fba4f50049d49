// Copyright The Penstock Authors.
// SPDX-License-Identifier: Apache-2.0

package proxy

import (
	"net/http"
	"strings"

	"github.com/penstock-dev/penstock/internal/limiter"
	"github.com/penstock-dev/penstock/internal/match"
)

// maxOrigin is the longest origin that is sent back: a name has at most 253 bytes.
const maxOrigin = 300

// exposedFields are those of a refusal that a script of another origin may read.
const exposedFields = "Retry-After, RateLimit, RateLimit-Policy, X-RateLimit-Limit, X-RateLimit-Remaining, X-RateLimit-Reset, " +
	"RateLimit-Limit, RateLimit-Remaining, RateLimit-Reset"

// echoesOrigin reports whether scripts of other origins may read a refusal. As with the
// fields about limits, the policy of the speaking limit decides, and of limits that
// nobody could count that of the first.
func echoesOrigin(decision *limiter.Decision, hits []match.Hit) bool {
	for i := range decision.Limits {
		state := &decision.Limits[i]
		if state.Allowed || state.Shadow {
			continue
		}
		hit := hitOf(hits, state)
		return hit != nil && hit.Policy.Response.EchoOrigin
	}
	return false
}

// echoOrigin lets a script of the request's origin read a refusal (CORS, of the Fetch
// standard), also one of a request that was sent with cookies. Every origin may: a
// refusal holds nothing of the app, nor of the client but how much it asked for.
func echoOrigin(refusal, request http.Header) {
	refusal["Vary"] = []string{"Origin"}
	origins := request["Origin"]
	if len(origins) != 1 || !isOrigin(origins[0]) {
		return
	}
	refusal["Access-Control-Allow-Origin"] = []string{origins[0]}
	refusal["Access-Control-Allow-Credentials"] = []string{"true"}
	refusal["Access-Control-Expose-Headers"] = []string{exposedFields}
}

// isOrigin reports whether a value is one origin as browsers serialize it, "null"
// included (RFC 6454, section 6.1), so that nothing else is ever sent back.
func isOrigin(value string) bool {
	if value == "null" {
		return true
	}
	scheme, authority, found := strings.Cut(value, "://")
	return found && len(value) <= maxOrigin && hasOnly(scheme, "+-.") && hasOnly(authority, "-._~%:[]")
}

// hasOnly reports whether a text is not empty and has only letters, digits and some
// other characters.
func hasOnly(text, others string) bool {
	for _, c := range []byte(text) {
		switch {
		case 'a' <= c && c <= 'z', 'A' <= c && c <= 'Z', '0' <= c && c <= '9', strings.IndexByte(others, c) >= 0:
		default:
			return false
		}
	}
	return text != ""
}
