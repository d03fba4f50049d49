// Copyright The Penstock Authors.
// SPDX-License-Identifier: Apache-2.0

package match

import (
	"fmt"
	"strings"
)

// anyLabels at the start of a host pattern stands for one or more labels.
const anyLabels = "*."

// canonicalHost is a host in lower case, without user, port and trailing dot.
func canonicalHost(host string) string {
	// What an at sign ends is no part of the host to any parser of URLs.
	host = host[strings.LastIndexByte(host, '@')+1:]
	if colon := strings.LastIndexByte(host, ':'); colon >= 0 && strings.IndexByte(host[colon:], ']') < 0 {
		// A bare IPv6 address has colons and no port.
		if host[0] == '[' || strings.IndexByte(host, ':') == colon {
			host = host[:colon]
		}
	}
	return strings.ToLower(strings.TrimSuffix(host, "."))
}

// FitsHost reports whether a canonical host is the one of the pattern, or of a domain
// where the pattern begins with "*.".
func FitsHost(pattern, host string) bool {
	if !strings.HasPrefix(pattern, anyLabels) {
		return pattern == host
	}
	domain := pattern[len(anyLabels)-1:]
	return len(host) > len(domain) && strings.HasSuffix(host, domain)
}

// checkHosts refuses patterns that no canonical host could be equal to.
func checkHosts(patterns []string) error {
	for _, pattern := range patterns {
		name := strings.TrimPrefix(pattern, anyLabels)
		if name == "" || name != canonicalHost(name) || strings.Contains(name, "*") {
			return fmt.Errorf("host %q is not in lower case without port, or has a * that is not a whole first label", pattern)
		}
	}
	return nil
}
