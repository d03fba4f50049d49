// Copyright The Penstock Authors.
// SPDX-License-Identifier: Apache-2.0

package ruleset

// Exempt lifts the rules of a policy for requests that any entry matches.
type Exempt struct {
	// CIDRs are addresses of clients.
	CIDRs []string `json:"cidrs,omitempty"`
	// Paths are compared as those of rules are.
	Paths []PathMatch `json:"paths,omitempty"`
	// Headers are secrets that a request may carry.
	Headers []ExemptHeader `json:"headers,omitempty"`
	// When are expressions.
	When []string `json:"when,omitempty"`
}

// ExemptHeader is a header whose value has this hash.
type ExemptHeader struct {
	// Name is in lower case.
	Name string `json:"name"`
	// SHA256 is the hash of the value: 64 hexadecimal digits in lower case.
	SHA256 string `json:"sha256"`
}
