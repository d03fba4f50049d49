// Copyright The Penstock Authors.
// SPDX-License-Identifier: Apache-2.0

package proxy

import (
	"net/http"
	"slices"
	"strings"
)

// forwardedFields are the fields in which proxies tell about the client. They
// pass as sent, also where the client named one of them in Connection to have it
// dropped on the way (golang/go#46313).
var forwardedFields = []string{"Forwarded", "X-Forwarded-For", "X-Forwarded-Host", "X-Forwarded-Proto"}

// isForwarded reports whether a field, in any case, is one of them.
func isForwarded(name string) bool {
	return slices.ContainsFunc(forwardedFields, func(field string) bool { return strings.EqualFold(field, name) })
}

// passForwarded copies what proxies before us told, and appends the peer to
// X-Forwarded-For unless peer is empty.
func passForwarded(outbound, inbound http.Header, peer string) {
	for _, name := range forwardedFields {
		if values, sent := inbound[name]; sent {
			outbound[name] = values
		}
	}
	if peer == "" {
		return
	}
	const name = "X-Forwarded-For"
	values := slices.Clone(outbound[name])
	if last := len(values) - 1; last >= 0 && values[last] != "" {
		values[last] += ", " + peer
	} else {
		values = append(values[:max(last, 0)], peer)
	}
	outbound[name] = values
}
