// Copyright The Penstock Authors.
// SPDX-License-Identifier: Apache-2.0

package jwks

import (
	"net/url"

	"github.com/penstock-dev/penstock/internal/match/token"
)

// LogFields are what a log tells of an address: its URL, the first provider that names
// it, and how many others do.
func LogFields(address token.KeyAddress) []any {
	fields := []any{"url", withoutQuery(address.URL)}
	if len(address.NamedBy) > 0 {
		first := address.NamedBy[0]
		fields = append(fields, "policy", first.Policy, "provider", first.Provider, "issuer", first.Issuer)
	}
	if others := len(address.NamedBy) - 1; others > 0 {
		fields = append(fields, "otherProviders", others)
	}
	return fields
}

// withoutQuery drops what may be secret in a URL.
func withoutQuery(address string) string {
	parsed, err := url.Parse(address)
	if err != nil {
		return ""
	}
	parsed.RawQuery, parsed.User = "", nil
	return parsed.String()
}
