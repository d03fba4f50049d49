// Copyright The Penstock Authors.
// SPDX-License-Identifier: Apache-2.0

package match

import (
	"crypto/ed25519"
	"encoding/base64"
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/penstock-dev/penstock/internal/match/token"
	"github.com/penstock-dev/penstock/internal/ruleset"
)

// tokenSaying is a token that the known key signed, with what stands in its head and
// claims besides algorithm and issuer.
func tokenSaying(algorithm, kid, issuer, more string) string {
	encode := base64.RawURLEncoding.EncodeToString
	text := encode(fmt.Appendf(nil, `{"alg":%q,"kid":%q}`, algorithm, kid)) + "." + encode(fmt.Appendf(nil, `{"iss":%q%s}`, issuer, more))
	return text + "." + encode(ed25519.Sign(signingKey, []byte(text)))
}

// told is of which provider a token was told to be unverified, and why.
type told struct {
	Provider string
	Reason   Disbelief
}

func toldOf(all []UnverifiedToken) []told {
	var found []told
	for _, one := range all {
		found = append(found, told{one.Provider, one.Reason})
	}
	return found
}

// TestWhyTokensAreNotVerified has the issuers a (in Authorization, for the audience shop),
// b (in Authorization and X-B) and away, whose keys are not there (in X-Away).
func TestWhyTokensAreNotVerified(t *testing.T) {
	t.Parallel()
	const valid = `,"sub":"ada","aud":"shop","exp":4102444800`
	bearer := func(token string) map[string][]string {
		return map[string][]string{"authorization": {"Bearer " + token}}
	}
	good := tokenSaying("EdDSA", "one", "a", valid)
	ofB := signedBy("b", "ada")
	byAny, byA := ruleset.KeySource{Name: "sub"}, ruleset.KeySource{Name: "sub", Provider: "a"}
	tests := map[string]struct {
		source  ruleset.KeySource
		headers map[string][]string
		want    []told
		// wantDenied is what the refusal tells.
		wantDenied []told
	}{
		"verified":                     {source: byA, headers: bearer(good)},
		"none":                         {source: byAny},
		"a password":                   {source: byAny, headers: map[string][]string{"authorization": {"Basic YTpi"}}},
		"verified, without the claim":  {source: ruleset.KeySource{Name: "mail", Provider: "a"}, headers: bearer(good)},
		"malformed":                    {byA, bearer("opaque"), []told{{"a", Malformed}}, []told{{"a", Malformed}}},
		"algorithm":                    {byA, bearer(tokenSaying("none", "one", "a", valid)), []told{{"a", Algorithm}}, []told{{"a", Algorithm}}},
		"issuer":                       {byA, bearer(tokenSaying("EdDSA", "one", "c", valid)), []told{{"a", Issuer}}, []told{{"a", Issuer}}},
		"audience":                     {byA, bearer(tokenSaying("EdDSA", "one", "a", `,"exp":4102444800`)), []told{{"a", Audience}}, []told{{"a", Audience}}},
		"lifetime":                     {byA, bearer(tokenSaying("EdDSA", "one", "a", `,"aud":"shop"`)), []told{{"a", Lifetime}}, []told{{"a", Lifetime}}},
		"expired":                      {byA, bearer(tokenSaying("EdDSA", "one", "a", `,"aud":"shop","exp":1`)), []told{{"a", Expired}}, []told{{"a", Expired}}},
		"not yet valid":                {byA, bearer(tokenSaying("EdDSA", "one", "a", valid+`,"nbf":4102444700`)), []told{{"a", NotYetValid}}, []told{{"a", NotYetValid}}},
		"key":                          {byA, bearer(tokenSaying("EdDSA", "two", "a", valid)), []told{{"a", Key}}, []told{{"a", Key}}},
		"signature":                    {byA, bearer(good[:len(good)-20] + "AAAAAAAAAAAAAAAAAAAA"), []told{{"a", Signature}}, []told{{"a", Signature}}},
		"keys that are not there":      {ruleset.KeySource{Name: "sub", Provider: "away"}, map[string][]string{"x-away": {signedBy("away", "ada")}}, []told{{"away", KeysUnavailable}}, []told{{"away", KeysUnavailable}}},
		"nearest of two providers":     {byAny, bearer(tokenSaying("EdDSA", "one", "b", `,"exp":1`)), []told{{"b", Expired}}, []told{{"b", Expired}}},
		"nearest of two tokens":        {ruleset.KeySource{Name: "sub", Provider: "b"}, map[string][]string{"authorization": {"Bearer x"}, "x-b": {tokenSaying("EdDSA", "one", "b", `,"exp":1`)}}, []told{{"b", Expired}}, []told{{"b", Expired}}},
		"junk before a good token":     {source: ruleset.KeySource{Name: "sub", Provider: "b"}, headers: map[string][]string{"authorization": {"Bearer x"}, "x-b": {ofB}}},
		"verified by another provider": {byA, bearer(ofB), nil, []told{{"a", Issuer}}},
		"verified by the second":       {source: byAny, headers: bearer(ofB)},
		"another one verified":         {byA, map[string][]string{"authorization": {"Bearer x"}, "x-b": {ofB}}, []told{{"a", Malformed}}, []told{{"a", Malformed}}},
		"several":                      {source: byA, headers: map[string][]string{"authorization": {"Bearer " + good, "Bearer x"}}, want: []told{{"a", Several}}},
		"believed unseen":              {source: ruleset.KeySource{Name: "sub", Unverified: true}, headers: bearer("opaque")},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			key := claimKey(tc.source)
			key[0].OnMissing = ruleset.MissingDeny
			rs := rulesWith(ruleset.Rule{Name: "r", Key: key, Limits: []ruleset.Limit{{Name: "l"}}})
			a, b := issuerNamed("a", "authorization"), issuerNamed("b", "authorization")
			a.Audiences, b.Headers = []string{"shop"}, []string{"authorization", "x-b"}
			rs.Policies[0].JWT = []ruleset.JWTProvider{a, b, {Name: "away", Issuer: "away", JWKSURL: "https://away", Headers: []string{"x-away"}}}
			m, err := Compile(rs, nil, Options{Now: func() time.Time { return time.Unix(4102444600, 0) }})
			if err != nil {
				t.Fatal(err)
			}
			result := mustMatch(t, m, withHeaders(tc.headers))
			if diff := cmp.Diff(tc.want, toldOf(result.UnverifiedTokens)); diff != "" {
				t.Errorf("unverified tokens (-want +got):\n%s", diff)
			}
			var denied []told
			if result.Denied != nil && result.Denied.Unverified != nil {
				denied = toldOf([]UnverifiedToken{*result.Denied.Unverified})
				if result.Denied.Claim != "sub" {
					t.Errorf("the refusal is for claim %q, want sub", result.Denied.Claim)
				}
			}
			if diff := cmp.Diff(tc.wantDenied, denied); diff != "" {
				t.Errorf("the refusal (-want +got):\n%s", diff)
			}
		})
	}
}

// TestUnverifiedTokensAreToldOnceForEachPolicy has two rules and an expression of one
// policy ask for the same token, and a policy that asks for none.
func TestUnverifiedTokensAreToldOnceForEachPolicy(t *testing.T) {
	t.Parallel()
	rs := rulesWith(
		ruleset.Rule{Name: "r", Key: claimKey(ruleset.KeySource{Name: "sub"})},
		ruleset.Rule{Name: "s", When: []string{"request.jwt['a'].plan == 'pro'"}},
	)
	rs.Policies[0].JWT = []ruleset.JWTProvider{issuerNamed("a", "authorization")}
	other, silent := rs.Policies[0], rs.Policies[0]
	other.Name, other.Rules = "other", other.Rules[1:]
	silent.Name, silent.Rules = "silent", []ruleset.Rule{{Name: "r"}}
	rs.Policies = append(rs.Policies, other, silent)
	var policies []string
	for _, one := range mustMatch(t, mustCompile(t, rs, nil), withHeaders(map[string][]string{"authorization": {"Bearer x"}})).UnverifiedTokens {
		policies = append(policies, one.Policy.Name)
	}
	if diff := cmp.Diff([]string{"web", "other"}, policies); diff != "" {
		t.Errorf("policies (-want +got):\n%s", diff)
	}
}

// TestEveryErrorOfVerifyingHasAReason holds the list to what the verifier says.
func TestEveryErrorOfVerifyingHasAReason(t *testing.T) {
	t.Parallel()
	for _, err := range []error{
		token.ErrMalformed, token.ErrAlgorithm, token.ErrIssuer, token.ErrAudience, token.ErrLifetime,
		token.ErrExpired, token.ErrNotYetValid, token.ErrNoKeysYet, token.ErrUnknownKey, token.ErrSignature,
	} {
		var found disbelieved
		if found.add("x", fmt.Errorf("verify: %w", err)); found.steps == 0 {
			t.Errorf("%v has no reason", err)
		}
	}
}
