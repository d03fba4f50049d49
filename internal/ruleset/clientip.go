// Copyright The Penstock Authors.
// SPDX-License-Identifier: Apache-2.0

package ruleset

// ClientIP says how the client's address is read from a request.
type ClientIP struct {
	// Header is the name, in lower case, of the header that tells the address; empty
	// takes the peer. All lines of "x-forwarded-for" and of others are one list.
	Header string `json:"header,omitempty"`
	// TrustedHops is which entry from the right is the client; 0 with an empty Header.
	TrustedHops int `json:"trustedHops,omitempty"`
	// TrustedCIDRs are the peers whose Header is believed.
	TrustedCIDRs []string `json:"trustedCIDRs,omitempty"`
	// IPv6PrefixLength is how many bits of an IPv6 address identify a client.
	IPv6PrefixLength int `json:"ipv6PrefixLength"`
}
