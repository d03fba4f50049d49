// Copyright The Penstock Authors.
// SPDX-License-Identifier: Apache-2.0

package match

import (
	"crypto/ed25519"
	"encoding/base64"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/penstock-dev/penstock/internal/match/token"
	"github.com/penstock-dev/penstock/internal/ruleset"
)

// signingKey is one that everybody knows.
var signingKey = ed25519.NewKeyFromSeed(make([]byte, ed25519.SeedSize))

func keySetText(name string) string {
	x := base64.RawURLEncoding.EncodeToString(signingKey.Public().(ed25519.PublicKey))
	return `{"keys":[{"kty":"OKP","crv":"Ed25519","kid":"` + name + `","x":"` + x + `"}]}`
}

// signedBy is a token of an issuer with a subject, which never ends in tests.
func signedBy(issuer, subject string) string {
	encode := base64.RawURLEncoding.EncodeToString
	text := encode([]byte(`{"alg":"EdDSA","kid":"one"}`)) + "." +
		encode(fmt.Appendf(nil, `{"iss":%q,"sub":%q,"exp":4102444800,"n":7}`, issuer, subject))
	return text + "." + encode(ed25519.Sign(signingKey, []byte(text)))
}

func issuerNamed(name, header string) ruleset.JWTProvider {
	return ruleset.JWTProvider{Name: name, Issuer: name, JWKS: keySetText("one"), Headers: []string{header}}
}

func claimKey(source ruleset.KeySource) []ruleset.KeyPart {
	source.Kind = ruleset.SourceJWTClaim
	return []ruleset.KeyPart{{Name: "client", OnMissing: ruleset.MissingSkip, From: []ruleset.KeySource{source}}}
}

// claimIdentity is the identity by a claim, empty if the rule was skipped, of a policy
// with the issuers a (in Authorization) and b (in X-B).
func claimIdentity(t *testing.T, source ruleset.KeySource, headers map[string][]string) string {
	t.Helper()
	rs := rulesWith(ruleset.Rule{Name: "r", Key: claimKey(source)})
	rs.Policies[0].JWT = []ruleset.JWTProvider{issuerNamed("a", "authorization"), issuerNamed("b", "x-b")}
	result := mustMatch(t, mustCompile(t, rs, nil), withHeaders(headers))
	if len(result.Hits) == 0 {
		return ""
	}
	return result.Hits[0].Identity
}

func TestIdentitiesByClaim(t *testing.T) {
	t.Parallel()
	sub := ruleset.KeySource{Name: "sub"}
	inA := func(values ...string) map[string][]string { return map[string][]string{"authorization": values} }
	ada, ofB := "Bearer "+signedBy("a", "ada"), signedBy("b", "ada")
	byA := claimIdentity(t, sub, inA(ada))
	ambiguous := claimIdentity(t, sub, inA(ada, "Bearer x"))
	if byA == "" || ambiguous == "" || byA == ambiguous {
		t.Fatalf("identity %q, ambiguous %q", byA, ambiguous)
	}
	tests := map[string]struct {
		source  ruleset.KeySource
		headers map[string][]string
		want    string
	}{
		"scheme in another case":          {sub, inA("bearer  " + signedBy("a", "ada") + " "), byA},
		"scheme before a tab":             {sub, inA("Bearer\t" + signedBy("a", "ada")), byA},
		"a word after it":                 {sub, inA(ada + " x"), byA},
		"a word after a tab":              {sub, inA(ada + "\tx"), byA},
		"the same twice":                  {sub, inA(ada, ada), byA},
		"by its provider":                 {ruleset.KeySource{Name: "sub", Provider: "a"}, inA(ada), byA},
		"of the first provider":           {sub, map[string][]string{"authorization": {ada}, "x-b": {ofB}}, byA},
		"two subjects at once":            {sub, inA(ada, "Bearer "+signedBy("a", "eve")), ambiguous},
		"token and password":              {sub, inA("Basic YTpi", ada), ambiguous},
		"passwords":                       {sub, inA("Basic YTpi", "Basic YTpj"), ""},
		"without scheme":                  {sub, inA(signedBy("a", "ada")), byA},
		"after another scheme":            {sub, inA("JWT " + signedBy("a", "ada")), byA},
		"after two schemes":               {sub, inA("Bearer Bearer " + signedBy("a", "ada")), byA},
		"after a word and a comma":        {sub, inA("x, " + ada), byA},
		"after a scheme and a colon":      {sub, inA("Bearer: " + signedBy("a", "ada")), byA},
		"in quotes":                       {sub, inA(`Bearer "` + signedBy("a", "ada") + `"`), byA},
		"after a space of Latin-1":        {sub, inA("Bearer\xa0" + signedBy("a", "ada")), byA},
		"of another scheme, none":         {sub, inA("Basic YTpi"), ""},
		"scheme alone":                    {sub, inA("Bearer"), ""},
		"joined by a comma":               {sub, inA(ada + ", " + ada), byA},
		"another issuer's":                {sub, inA("Bearer " + ofB), ""},
		"of another provider":             {ruleset.KeySource{Name: "sub", Provider: "b"}, inA(ada), ""},
		"no such claim":                   {ruleset.KeySource{Name: "email"}, inA(ada), ""},
		"unverified, several":             {ruleset.KeySource{Name: "sub", Unverified: true}, inA(ada, "Bearer x"), ambiguous},
		"unverified, where nobody looks":  {ruleset.KeySource{Name: "sub", Unverified: true}, map[string][]string{"x-c": {ofB}}, ""},
		"unverified, that is no token":    {ruleset.KeySource{Name: "sub", Unverified: true}, inA("Bearer x"), ""},
		"unverified, without such claims": {ruleset.KeySource{Name: "email", Unverified: true}, inA(ada), ""},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if got := claimIdentity(t, tc.source, tc.headers); got != tc.want {
				t.Errorf("identity %q, want %q", got, tc.want)
			}
		})
	}
	others := map[string]string{
		"subject of another issuer": claimIdentity(t, sub, map[string][]string{"x-b": {ofB}}),
		"believed unseen":           claimIdentity(t, ruleset.KeySource{Name: "sub", Unverified: true}, inA(ada)),
		"another subject":           claimIdentity(t, sub, inA("Bearer "+signedBy("a", "eve"))),
	}
	for name, identity := range others {
		if identity == "" || identity == byA || identity == ambiguous {
			t.Errorf("%s: identity %q is that of another", name, identity)
		}
	}
}

// TestClaimsForExpressions reads all claims by provider.
func TestClaimsForExpressions(t *testing.T) {
	t.Parallel()
	rs := rulesWith(ruleset.Rule{Name: "r"})
	rs.Policies[0].JWT = []ruleset.JWTProvider{issuerNamed("a", "authorization"), issuerNamed("b", "x-b")}
	policy := &mustCompile(t, rs, nil).policies[0]
	r := &request{view: withHeaders(map[string][]string{"authorization": {"Bearer " + signedBy("a", "ada")}})}
	want := map[string]any{"iss": "a", "sub": "ada", "exp": int64(4102444800), "n": int64(7)}
	if diff := cmp.Diff(want, policy.providers.claims(r, "a")); diff != "" {
		t.Errorf("claims (-want +got):\n%s", diff)
	}
	for _, name := range []string{"b", "c"} {
		if claims := policy.providers.claims(r, name); claims != nil {
			t.Errorf("claims of %s: %v", name, claims)
		}
	}
	if len(r.bearings) != 2 {
		t.Errorf("%d providers are remembered, want 2", len(r.bearings))
	}
}

// fakeKeys holds what tests put there.
type fakeKeys struct {
	set     *token.KeySet
	renewed []string
}

func (k *fakeKeys) Keys(string) *token.KeySet { return k.set }
func (k *fakeKeys) Renew(url string)          { k.renewed = append(k.renewed, url) }

// TestFetchedKeys asks before there are keys, with others and with the right ones.
func TestFetchedKeys(t *testing.T) {
	t.Parallel()
	rs := rulesWith(ruleset.Rule{Name: "r", Key: claimKey(ruleset.KeySource{Name: "sub"})})
	rs.Policies[0].JWT = []ruleset.JWTProvider{
		{Name: "a", Issuer: "a", JWKSURL: "https://a", Headers: []string{"authorization"}},
		{Name: "again", Issuer: "again", JWKSURL: "https://a", Headers: []string{"authorization"}},
		issuerNamed("b", "x-b"),
	}
	keys := &fakeKeys{}
	m, err := Compile(rs, nil, Options{Keys: keys, Now: func() time.Time { return time.Unix(4102444800, 0) }})
	if err != nil {
		t.Fatal(err)
	}
	addresses := []token.KeyAddress{{URL: "https://a", NamedBy: []token.Naming{
		{Policy: "web", Provider: "a", Issuer: "a"}, {Policy: "web", Provider: "again", Issuer: "again"},
	}}}
	if diff := cmp.Diff(addresses, m.KeyAddresses()); diff != "" {
		t.Errorf("addresses (-want +got):\n%s", diff)
	}
	hits := func() int {
		return len(mustMatch(t, m, withHeaders(map[string][]string{"authorization": {"Bearer " + signedBy("a", "ada")}})).Hits)
	}
	put := func(name string) {
		if keys.set, err = token.ParseKeySet([]byte(keySetText(name))); err != nil {
			t.Fatal(err)
		}
	}
	if got := hits(); got != 0 || len(keys.renewed) != 0 {
		t.Errorf("without keys: %d hits, asked for %v", got, keys.renewed)
	}
	put("zero")
	if got := hits(); got != 0 || len(keys.renewed) != 1 {
		t.Errorf("with another key: %d hits, asked for %v; want only the issuer's to be asked for", got, keys.renewed)
	}
	put("one")
	if got := hits(); got != 1 || len(keys.renewed) != 1 {
		t.Errorf("with the key: %d hits, asked for %v", got, keys.renewed)
	}
	if got, err := Compile(rs, nil, Options{}); err != nil || len(mustMatch(t, got, withHeaders(map[string][]string{"authorization": {"Bearer " + signedBy("a", "ada")}})).Hits) != 0 {
		t.Errorf("with nobody who fetches: error %v, or a token is believed", err)
	}
}

func TestBadIssuersDoNotCompile(t *testing.T) {
	t.Parallel()
	for want, issuer := range map[string]ruleset.JWTProvider{
		"exactly one":   {Name: "a", Headers: []string{"authorization"}},
		"in lower case": {Name: "a", JWKSURL: "https://a", Headers: []string{"Authorization"}},
		"at least one":  {Name: "a", JWKSURL: "https://a"},
		"no public key": {Name: "a", JWKS: `{}`, Headers: []string{"authorization"}},
	} {
		rs := rulesWith(ruleset.Rule{Name: "r"})
		rs.Policies[0].JWT = []ruleset.JWTProvider{issuer}
		if _, err := Compile(rs, nil, Options{}); err == nil || !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), `issuer "a"`) {
			t.Errorf("error %v, want one with %q", err, want)
		}
	}
}

func BenchmarkMatchByClaim(b *testing.B) {
	rs := rulesWith(ruleset.Rule{Name: "r", Key: claimKey(ruleset.KeySource{Name: "sub"})})
	rs.Policies[0].JWT = []ruleset.JWTProvider{issuerNamed("a", "authorization")}
	m, view := mustCompile(b, rs, nil), get("/")
	view.headers = map[string][]string{"authorization": {"Bearer " + signedBy("a", "ada")}}
	b.ReportAllocs()
	for b.Loop() {
		if result, err := m.Match(view); err != nil || len(result.Hits) != 1 {
			b.Fatal(result, err)
		}
	}
}
