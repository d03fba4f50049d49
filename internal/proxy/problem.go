// Copyright The Penstock Authors.
// SPDX-License-Identifier: Apache-2.0

package proxy

import (
	"encoding/json"
	"net/http"
	"strconv"
)

// The problem types of draft-ietf-httpapi-ratelimit-headers.
const (
	problemQuotaExceeded   = "https://iana.org/assignments/http-problem-types#quota-exceeded"
	problemReducedCapacity = "https://iana.org/assignments/http-problem-types#temporary-reduced-capacity"
	contentTypeProblem     = "application/problem+json"
	titleQuotaExceeded     = "Request cannot be satisfied as assigned quota has been exceeded"
	titleReducedCapacity   = "Request cannot be satisfied due to temporary server capacity constraints"
)

// problem is the body of our own answers (RFC 9457).
type problem struct {
	// Type is absent where title and status say it all ("about:blank").
	Type   string `json:"type,omitempty"`
	Title  string `json:"title"`
	Status int    `json:"status"`
	Detail string `json:"detail,omitempty"`
	// ViolatedPolicies are names as in RateLimit-Policy.
	ViolatedPolicies []string `json:"violated-policies,omitempty"`
}

// answer is a whole answer of our own.
type answer struct {
	status int
	header http.Header
	body   []byte
}

func problemAnswer(p problem) answer {
	// Encoding strings and integers cannot fail.
	body, _ := json.Marshal(p)
	return answer{status: p.Status, header: http.Header{"Content-Type": {contentTypeProblem}}, body: body}
}

// writeAnswer sends an answer; the server leaves the body out of one to HEAD. An
// error of writing means that the client has left, which nobody needs to hear.
func writeAnswer(w http.ResponseWriter, a answer) {
	header := w.Header()
	for name, values := range a.header {
		header[name] = values
	}
	if _, isCall := a.header["Grpc-Status"]; !isCall {
		// An answer of gRPC that is all header has no length.
		header.Set("Content-Length", strconv.Itoa(len(a.body)))
	}
	w.WriteHeader(a.status)
	_, _ = w.Write(a.body)
}
