// Copyright The Penstock Authors.
// SPDX-License-Identifier: Apache-2.0

package compile

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/penstock-dev/penstock/api/v1alpha1"
	"github.com/penstock-dev/penstock/internal/ruleset"
)

// Keys of RFC 8037, appendix A.
const (
	publicKey  = `{"kty":"OKP","crv":"Ed25519","x":"11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo"}`
	privateKey = `{"kty":"OKP","crv":"Ed25519","d":"nWGxne_9WmC6hEr0kuwsxERJxWl7MmkZcDusAxyuf2A","x":"11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo"}`
)

// tokens gives a policy a provider with a key, and a key of its claim sub.
func tokens(change func(*v1alpha1.JWTProvider, *v1alpha1.JWTClaimKey)) func(*v1alpha1.RateLimitPolicy) {
	return func(p *v1alpha1.RateLimitPolicy) {
		provider := v1alpha1.JWTProvider{Name: "idp", Issuer: "https://id.example.com", JWKS: v1alpha1.JWKS{URL: "https://id.example.com/jwks"}}
		claim := &v1alpha1.JWTClaimKey{Name: "sub", Provider: "idp"}
		change(&provider, claim)
		p.Spec.JWT = &v1alpha1.JWT{Providers: []v1alpha1.JWTProvider{provider}}
		source(v1alpha1.KeySource{JWTClaim: claim})(p)
	}
}

func TestInvalidTokenFieldsAreNamedWithTheirMend(t *testing.T) {
	t.Parallel()
	type provider = v1alpha1.JWTProvider
	type claim = v1alpha1.JWTClaimKey
	inline := func(text string) func(*provider, *claim) {
		return func(p *provider, _ *claim) { p.JWKS = v1alpha1.JWKS{Inline: text} }
	}
	url := func(url string) func(*provider, *claim) {
		return func(p *provider, _ *claim) { p.JWKS.URL = url }
	}
	const providers, jwtClaim = "spec.jwt.providers", "spec.rules[0].key[0].from[0].jwtClaim"
	tests := map[string]struct {
		change                 func(*provider, *claim)
		wantField, wantMessage string
	}{
		"name":                {func(p *provider, _ *claim) { p.Name = "IdP" }, providers + "[0].name", "lower case"},
		"issuer":              {func(p *provider, _ *claim) { p.Issuer = "" }, providers + "[0].issuer", "claim iss"},
		"long issuer":         {func(p *provider, _ *claim) { p.Issuer = strings.Repeat("ä", 257) }, providers + "[0].issuer", "shorten"},
		"audience":            {func(p *provider, _ *claim) { p.Audiences = []string{""} }, providers + "[0].audiences[0]", "claim aud"},
		"no keys":             {url(""), providers + "[0].jwks", "inline"},
		"two places of keys":  {func(p *provider, _ *claim) { p.JWKS.Inline = "{}" }, providers + "[0].jwks", "remove one"},
		"plain URL":           {url("http://id.example.com/jwks"), providers + "[0].jwks.url", "https://"},
		"URL with a user":     {url("https://a:b@id.example.com/jwks"), providers + "[0].jwks.url", "no user"},
		"URL without host":    {url("https:///jwks"), providers + "[0].jwks.url", "https://"},
		"inline no JSON":      {inline("keys"), providers + "[0].jwks.inline", "no JSON Web Key Set"},
		"inline without keys": {inline(`{"keys":[]}`), providers + "[0].jwks.inline", "no public key"},
		"inline private key":  {inline(`{"keys":[` + publicKey + `,` + privateKey + `]}`), providers + "[0].jwks.inline", "replace that key"},
		"inline long":         {inline(`{"keys":[` + publicKey + `]}` + strings.Repeat(" ", 32<<10)), providers, "at most 32768"},
		"place":               {func(p *provider, _ *claim) { p.From = []v1alpha1.JWTLocation{{}} }, providers + "[0].from[0]", "header"},
		"header": {func(p *provider, _ *claim) {
			p.From = []v1alpha1.JWTLocation{{Header: &v1alpha1.HeaderName{Name: "a b"}}}
		}, providers + "[0].from[0].header.name", "Authorization"},
		"claim":            {func(_ *provider, c *claim) { c.Name = "" }, jwtClaim + ".name", "such as sub"},
		"unknown provider": {func(_ *provider, c *claim) { c.Provider = "other" }, jwtClaim + ".provider", "add it there"},
		"verification":     {func(_ *provider, c *claim) { c.Verification = "Maybe" }, jwtClaim + ".verification", "Required, None"},
		"provider of None": {func(_ *provider, c *claim) { c.Verification = v1alpha1.JWTVerificationNone }, jwtClaim + ".provider", "remove it"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			result, _ := compileOne(t, nil, nil, newPolicy("web", tokens(tc.change)))
			if result.Reason != v1alpha1.ReasonInvalid || len(result.Problems) == 0 {
				t.Fatalf("reason %s, problems %v", result.Reason, result.Problems)
			}
			first := result.Problems[0]
			if first.Field != tc.wantField || !strings.Contains(first.Message, tc.wantMessage) {
				t.Errorf("problem %q: %s; want %q with %q", first.Field, first.Message, tc.wantField, tc.wantMessage)
			}
		})
	}
	t.Run("nobody verifies", func(t *testing.T) {
		t.Parallel()
		policy := newPolicy("web", source(v1alpha1.KeySource{JWTClaim: &v1alpha1.JWTClaimKey{Name: "sub"}}))
		if result, _ := compileOne(t, nil, nil, policy); result.Reason != v1alpha1.ReasonInvalid {
			t.Errorf("reason %s", result.Reason)
		}
	})
}

func TestTokensCompile(t *testing.T) {
	t.Parallel()
	policy := newPolicy("web", tokens(func(p *v1alpha1.JWTProvider, _ *v1alpha1.JWTClaimKey) {
		p.Audiences, p.From = []string{"shop"}, []v1alpha1.JWTLocation{{Header: &v1alpha1.HeaderName{Name: "X-Id-Token"}}}
	}))
	policy.Spec.JWT.Providers = append(policy.Spec.JWT.Providers, v1alpha1.JWTProvider{Name: "two", Issuer: "two", JWKS: v1alpha1.JWKS{Inline: `{"keys":[` + publicKey + `]}`}})
	result, rules := compileOne(t, nil, nil, policy)
	if len(result.Problems) > 0 {
		t.Fatal(result.Problems)
	}
	wantJWT := []ruleset.JWTProvider{
		{Name: "idp", Issuer: "https://id.example.com", Audiences: []string{"shop"}, JWKSURL: "https://id.example.com/jwks", Headers: []string{"x-id-token"}},
		{Name: "two", Issuer: "two", JWKS: `{"keys":[` + publicKey + `]}`, Headers: []string{"authorization"}},
	}
	if diff := cmp.Diff(wantJWT, rules.Policies[0].JWT); diff != "" {
		t.Errorf("providers (-want +got):\n%s", diff)
	}
	wantFrom := []ruleset.KeySource{{Kind: ruleset.SourceJWTClaim, Name: "sub", Provider: "idp"}}
	if diff := cmp.Diff(wantFrom, rules.Policies[0].Rules[0].Key[0].From); diff != "" {
		t.Errorf("sources (-want +got):\n%s", diff)
	}
}

// TestUnverifiedTokensAreAWarning has the policy be accepted and in force with it.
func TestUnverifiedTokensAreAWarning(t *testing.T) {
	t.Parallel()
	policy := newPolicy("web", source(v1alpha1.KeySource{JWTClaim: &v1alpha1.JWTClaimKey{Name: "sub", Verification: v1alpha1.JWTVerificationNone}}))
	result, rules := compileOne(t, nil, nil, policy)
	if result.Reason != v1alpha1.ReasonAccepted || result.ActiveGeneration != 1 || len(rules.Policies) != 1 {
		t.Errorf("reason %s, generation %d in force, %d policies", result.Reason, result.ActiveGeneration, len(rules.Policies))
	}
	if len(result.Problems) != 1 || !IsWarning(result.Problems[0]) || result.Problems[0].Field != "spec.rules[0].key[0].from[0].jwtClaim.verification" {
		t.Errorf("problems %v, want one warning", result.Problems)
	}
	if from := rules.Policies[0].Rules[0].Key[0].From; !from[0].Unverified {
		t.Errorf("source %+v, want it to be unverified", from[0])
	}
}
