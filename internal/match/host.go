// Copyright The Penstock Authors.
// SPDX-License-Identifier: Apache-2.0

package match

import "strings"

// canonicalHost is a host in lower case, without port and without trailing dot.
func canonicalHost(host string) string {
	if colon := strings.LastIndexByte(host, ':'); colon >= 0 && strings.IndexByte(host[colon:], ']') < 0 {
		// A bare IPv6 address has colons and no port.
		if host[0] == '[' || strings.IndexByte(host, ':') == colon {
			host = host[:colon]
		}
	}
	return strings.ToLower(strings.TrimSuffix(host, "."))
}
