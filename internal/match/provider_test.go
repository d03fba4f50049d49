// Copyright The Penstock Authors.
// SPDX-License-Identifier: Apache-2.0

package match

import (
	"testing"
	"time"

	"github.com/penstock-dev/penstock/internal/match/token"
	"github.com/penstock-dev/penstock/internal/ruleset"
)

// TestNewRulesKeepVerifiedTokens changes rules after a token was verified: what was
// remembered stays only where all that is said of its issuer is the same.
func TestNewRulesKeepVerifiedTokens(t *testing.T) {
	t.Parallel()
	inline, fetched := issuerNamed("a", "authorization"), issuerNamed("a", "authorization")
	fetched.JWKS, fetched.JWKSURL = "", "https://a/keys"
	tests := map[string]struct {
		provider ruleset.JWTProvider
		edit     func(*ruleset.Policy)
		// set is what is fetched afterwards; empty for what was before.
		set                 string
		wantKept, wantTaken bool
	}{
		"another rule": {provider: inline, edit: func(p *ruleset.Policy) {
			p.Rules = append(p.Rules, ruleset.Rule{Name: "other"})
		}, wantKept: true, wantTaken: true},
		"another policy's name":        {provider: inline, edit: func(p *ruleset.Policy) { p.Name = "other" }, wantKept: true, wantTaken: true},
		"another name of the provider": {provider: inline, edit: func(p *ruleset.Policy) { p.JWT[0].Name = "other" }, wantKept: true, wantTaken: true},
		"one more provider": {provider: inline, edit: func(p *ruleset.Policy) {
			p.JWT = append(p.JWT, issuerNamed("b", "x-b"))
		}, wantKept: true, wantTaken: true},
		"another issuer":             {provider: inline, edit: func(p *ruleset.Policy) { p.JWT[0].Issuer = "b" }},
		"an audience":                {provider: inline, edit: func(p *ruleset.Policy) { p.JWT[0].Audiences = []string{"shop"} }},
		"other keys":                 {provider: inline, edit: func(p *ruleset.Policy) { p.JWT[0].JWKS = keySetText("zero") }},
		"another header":             {provider: inline, edit: func(p *ruleset.Policy) { p.JWT[0].Headers = []string{"x-token"} }},
		"fetched, another rule":      {provider: fetched, edit: func(p *ruleset.Policy) { p.Name = "other" }, wantKept: true, wantTaken: true},
		"fetched, no keys any more":  {provider: fetched, edit: func(*ruleset.Policy) {}, set: "none", wantKept: true},
		"fetched, other keys":        {provider: fetched, edit: func(*ruleset.Policy) {}, set: "zero", wantKept: true},
		"fetched, from another URL":  {provider: fetched, edit: func(p *ruleset.Policy) { p.JWT[0].JWKSURL = "https://b/keys" }, wantTaken: true},
		"fetched before, now inline": {provider: fetched, edit: func(p *ruleset.Policy) { p.JWT[0] = issuerNamed("a", "authorization") }, wantTaken: true},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			compile := func(before *Matcher, keys Keys, edit func(*ruleset.Policy)) *Matcher {
				t.Helper()
				rs := rulesWith(ruleset.Rule{Name: "r", Key: claimKey(ruleset.KeySource{Name: "sub"})})
				rs.Policies[0].JWT = []ruleset.JWTProvider{tc.provider}
				edit(&rs.Policies[0])
				m, err := Compile(rs, nil, Options{Keys: keys, Before: before, Now: func() time.Time { return time.Unix(4102444800, 0) }})
				if err != nil {
					t.Fatal(err)
				}
				return m
			}
			setOf := func(name string) *token.KeySet {
				set, err := token.ParseKeySet([]byte(keySetText(name)))
				if err != nil {
					t.Fatal(err)
				}
				return set
			}
			isTaken := func(m *Matcher) bool {
				view := withHeaders(map[string][]string{"authorization": {"Bearer " + signedBy("a", "ada")}})
				hits := mustMatch(t, m, view).Hits
				return len(hits) > 0 && hits[0].Rule.Name == "r"
			}
			keys := &fakeKeys{set: setOf("one")}
			before := compile(nil, keys, func(*ruleset.Policy) {})
			if !isTaken(before) {
				t.Fatal("the token is not believed before the change")
			}
			switch tc.set {
			case "":
			case "none":
				keys.set = nil
			default:
				keys.set = setOf(tc.set)
			}
			after := compile(before, keys, tc.edit)
			kept := after.policies[0].providers[0].verifier == before.policies[0].providers[0].verifier
			if kept != tc.wantKept || isTaken(after) != tc.wantTaken {
				t.Errorf("what was verified is kept: %v, the token is believed: %v; want %v, %v", kept, isTaken(after), tc.wantKept, tc.wantTaken)
			}
			if after.options.Before != nil {
				t.Error("the matcher before is kept, and with it all those before that")
			}
		})
	}
}

// TestKeptTokensExpire has a token that was verified under the rules before expire.
func TestKeptTokensExpire(t *testing.T) {
	t.Parallel()
	rs := rulesWith(ruleset.Rule{Name: "r", Key: claimKey(ruleset.KeySource{Name: "sub"})})
	rs.Policies[0].JWT = []ruleset.JWTProvider{issuerNamed("a", "authorization")}
	var m *Matcher
	hitsAt := func(at time.Time) int {
		t.Helper()
		var err error
		if m, err = Compile(rs, nil, Options{Before: m, Now: func() time.Time { return at }}); err != nil {
			t.Fatal(err)
		}
		return len(mustMatch(t, m, withHeaders(map[string][]string{"authorization": {"Bearer " + signedBy("a", "ada")}})).Hits)
	}
	valid := time.Unix(4102444800, 0)
	if got := []int{hitsAt(valid), hitsAt(valid), hitsAt(valid.AddDate(100, 0, 0)), hitsAt(valid)}; got[0] != 1 || got[1] != 1 || got[2] != 0 || got[3] != 1 {
		t.Errorf("%v hits while it is valid, still valid, expired, and valid by a clock that was set back; want 1 1 0 1", got)
	}
}
