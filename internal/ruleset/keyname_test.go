// Copyright The Penstock Authors.
// SPDX-License-Identifier: Apache-2.0

package ruleset

import "testing"

func TestWordsOfASource(t *testing.T) {
	t.Parallel()
	tests := map[string]KeySource{
		"client address":    {Kind: SourceClientIP},
		"header X-Api-Key":  {Kind: SourceHeader, Name: "x-api-key"},
		"claim sub":         {Kind: SourceJWTClaim, Name: "sub", Provider: "idp"},
		"cookie session":    {Kind: SourceCookie, Name: "session"},
		"query parameter k": {Kind: SourceQueryParam, Name: "k"},
		"path parameter id": {Kind: SourcePathParam, Name: "id"},
		"path":              {Kind: SourcePath},
		"method":            {Kind: SourceMethod},
		"host":              {Kind: SourceHost},
		"an expression":     {Kind: SourceExpression, Name: "request.method"},
	}
	for want, source := range tests {
		t.Run(want, func(t *testing.T) {
			t.Parallel()
			if got := source.Words(); got != want {
				t.Errorf("words are %q, want %q", got, want)
			}
		})
	}
}
