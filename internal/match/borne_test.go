// Copyright The Penstock Authors.
// SPDX-License-Identifier: Apache-2.0

package match

import (
	"strings"
	"testing"

	"github.com/penstock-dev/penstock/internal/ruleset"
)

// TestTokensAreTriedInOrder has a provider look in several places. Whatever else a client
// writes there, it is counted by the token that its app may take: a rule that skips whom
// nobody verified must not be left in this way.
func TestTokensAreTriedInOrder(t *testing.T) {
	t.Parallel()
	ada, eve, ofB := signedBy("a", "ada"), signedBy("a", "eve"), signedBy("b", "ada")
	forged := ada[:strings.LastIndexByte(ada, '.')+1] + "AAAA"
	identityOf := func(t *testing.T, source ruleset.KeySource, headers map[string][]string) string {
		t.Helper()
		rs := rulesWith(ruleset.Rule{Name: "r", Key: claimKey(source)})
		issuer := issuerNamed("a", "x-first")
		issuer.Headers = append(issuer.Headers, "authorization", "x-last")
		rs.Policies[0].JWT = []ruleset.JWTProvider{issuer}
		result := mustMatch(t, mustCompile(t, rs, nil), withHeaders(headers))
		if len(result.Hits) == 0 {
			return ""
		}
		return result.Hits[0].Identity
	}
	verified, unverified := ruleset.KeySource{Name: "sub"}, ruleset.KeySource{Name: "sub", Unverified: true}
	last := map[string][]string{"x-last": {ada}}
	for name, source := range map[string]ruleset.KeySource{"verified": verified, "unverified": unverified} {
		ofAda, ofEve := identityOf(t, source, last), identityOf(t, source, map[string][]string{"x-last": {eve}})
		ambiguous := identityOf(t, source, map[string][]string{"x-last": {ada, eve}})
		if ofAda == "" || ofEve == "" || ambiguous == "" || ofAda == ofEve || ambiguous == ofAda {
			t.Fatalf("%s: identities %q, %q, ambiguous %q", name, ofAda, ofEve, ambiguous)
		}
		tests := map[string]struct {
			headers map[string][]string
			want    string
		}{
			"no token first":                   {map[string][]string{"x-first": {"junk"}, "x-last": {ada}}, ofAda},
			"blanks first":                     {map[string][]string{"x-first": {" "}, "x-last": {ada}}, ofAda},
			"no claims first":                  {map[string][]string{"x-first": {"e30.e30.AAAA"}, "x-last": {ada}}, ofAda},
			"a scheme without token first":     {map[string][]string{"authorization": {"Bearer x"}, "x-last": {ada}}, ofAda},
			"a password first":                 {map[string][]string{"authorization": {"Basic YTpi"}, "x-last": {ada}}, ofAda},
			"two before it":                    {map[string][]string{"x-first": {"junk"}, "authorization": {"Bearer a.b.c"}, "x-last": {ada}}, ofAda},
			"as first word of three parts":     {map[string][]string{"authorization": {"a.b.c " + ada}}, ofAda},
			"among words":                      {map[string][]string{"authorization": {"x a.b.c d.e.f " + ada}}, ofAda},
			"behind more than are tried":       {map[string][]string{"authorization": {"a.b.c d.e.f g.h.i j.k.l " + ada}}, ambiguous},
			"the same before":                  {map[string][]string{"authorization": {"a.b.c a.b.c a.b.c a.b.c a.b.c " + ada}}, ofAda},
			"of two that are good the first":   {map[string][]string{"x-first": {eve}, "x-last": {ada}}, ofEve},
			"good before an ambiguous header":  {map[string][]string{"x-first": {eve}, "x-last": {ada, "junk"}}, ofEve},
			"behind an ambiguous header":       {map[string][]string{"x-first": {"junk", "more"}, "x-last": {ada}}, ambiguous},
			"behind several values, no tokens": {map[string][]string{"authorization": {"Basic YTpi", "Basic YTpj"}, "x-last": {ada}}, ofAda},
			"none":                             {map[string][]string{"x-first": {"junk"}, "authorization": {"Bearer a.b.c"}}, ""},
		}
		for call, tc := range tests {
			t.Run(name+"/"+call, func(t *testing.T) {
				t.Parallel()
				if got := identityOf(t, source, tc.headers); got != tc.want {
					t.Errorf("identity %q, want %q (ada's is %q, eve's %q, the ambiguous one %q)", got, tc.want, ofAda, ofEve, ambiguous)
				}
			})
		}
	}
	for name, before := range map[string]string{"a forged token": forged, "another issuer's token": ofB} {
		if got, want := identityOf(t, verified, map[string][]string{"x-first": {before}, "x-last": {ada}}), identityOf(t, verified, last); got != want {
			t.Errorf("%s first: identity %q, want %q", name, got, want)
		}
	}
}
