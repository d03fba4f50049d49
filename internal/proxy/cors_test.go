// Copyright The Penstock Authors.
// SPDX-License-Identifier: Apache-2.0

package proxy

import (
	"net/http"
	"strings"
	"testing"

	"github.com/penstock-dev/penstock/internal/limiter"
	"github.com/penstock-dev/penstock/internal/match"
	"github.com/penstock-dev/penstock/internal/ruleset"
)

func TestOnlyOriginsAreSentBack(t *testing.T) {
	t.Parallel()
	for value, want := range map[string]bool{
		"https://a.example.com": true, "http://localhost:3000": true, "http://[::1]:8080": true, "null": true,
		"moz-extension://0e7f-12": true, "https://xn--bcher-kva.example": true, "https://a_b.example": true,
		"": false, "*": false, "https://": false, "://a": false, "a.example.com": false, "https://a/": false,
		"https://a?b": false, "https://a,https://b": false, "https://a https://b": false, "https://a\r\nSet-Cookie: x": false,
		"https://a\x00": false, "https://user@a": false, "https://a\"": false, "https://ä": false, "NULL": false,
		"https://" + strings.Repeat("a", maxOrigin): false,
	} {
		if got := isOrigin(value); got != want {
			t.Errorf("isOrigin(%q) = %t, want %t", value, got, want)
		}
	}
	refusal := http.Header{}
	echoOrigin(refusal, http.Header{"Origin": {"https://a.example.com", "https://b.example.com"}})
	if refusal.Get("Access-Control-Allow-Origin") != "" || refusal.Get("Vary") != "Origin" {
		t.Errorf("of two origins: %v, want none of them", refusal)
	}
}

// TestPolicyOfTheRefusingLimitEchoes has two policies that differ in cors.
func TestPolicyOfTheRefusingLimitEchoes(t *testing.T) {
	t.Parallel()
	rule := &ruleset.Rule{Name: "all"}
	hits := []match.Hit{
		{Policy: &ruleset.Policy{Name: "web", Response: ruleset.Response{EchoOrigin: true}}, Rule: rule},
		{Policy: &ruleset.Policy{Name: "other"}, Rule: rule},
	}
	web, other := limiter.LimitState{Policy: "web", Rule: "all"}, limiter.LimitState{Policy: "other", Rule: "all"}
	admits, shadow := web, web
	admits.Allowed, shadow.Shadow = true, true
	uncounted := web
	uncounted.Source = limiter.StoreDenied
	tests := map[string]struct {
		limits []limiter.LimitState
		want   bool
	}{
		"the first that refuses":     {[]limiter.LimitState{web, other}, true},
		"another is first":           {[]limiter.LimitState{other, web}, false},
		"one that admits is none":    {[]limiter.LimitState{admits, other}, false},
		"a shadow is none":           {[]limiter.LimitState{shadow, other}, false},
		"one that nobody could ask":  {[]limiter.LimitState{uncounted}, true},
		"nothing refuses, of nobody": {nil, false},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if got := echoesOrigin(&limiter.Decision{Limits: tc.limits}, hits); got != tc.want {
				t.Errorf("echoes %t, want %t", got, tc.want)
			}
		})
	}
}
