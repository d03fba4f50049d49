// Copyright The Penstock Authors.
// SPDX-License-Identifier: Apache-2.0

package jwks

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/penstock-dev/penstock/internal/match/token"
)

func TestLogFields(t *testing.T) {
	t.Parallel()
	idp, partner := token.Naming{Policy: "web", Provider: "idp", Issuer: "https://id"}, token.Naming{Policy: "api", Provider: "partner", Issuer: "p"}
	for name, tc := range map[string]struct {
		address token.KeyAddress
		want    []any
	}{
		"one provider": {
			token.KeyAddress{URL: "https://user:word@id/jwks?code=hidden", NamedBy: []token.Naming{idp}},
			[]any{"url", "https://id/jwks", "policy", "web", "provider", "idp", "issuer", "https://id"},
		},
		"two": {
			token.KeyAddress{URL: "https://id/jwks", NamedBy: []token.Naming{idp, partner}},
			[]any{"url", "https://id/jwks", "policy", "web", "provider", "idp", "issuer", "https://id", "otherProviders", 1},
		},
		"no URL": {token.KeyAddress{URL: "https://a b"}, []any{"url", ""}},
	} {
		if diff := cmp.Diff(tc.want, LogFields(tc.address)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}
