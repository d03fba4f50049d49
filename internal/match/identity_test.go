// Copyright The Penstock Authors.
// SPDX-License-Identifier: Apache-2.0

package match

import (
	"net/netip"
	"regexp"
	"testing"

	"github.com/penstock-dev/penstock/internal/ruleset"
)

func headerPart(onMissing ruleset.OnMissing, names ...string) ruleset.KeyPart {
	part := ruleset.KeyPart{Name: "client", OnMissing: onMissing}
	for _, name := range names {
		part.From = append(part.From, ruleset.KeySource{Kind: ruleset.SourceHeader, Name: name})
	}
	return part
}

// identityOf is the identity that a rule with this key gives a request.
func identityOf(t *testing.T, view View, key ...ruleset.KeyPart) string {
	t.Helper()
	result := mustMatch(t, mustCompile(t, rulesWith(ruleset.Rule{Name: "r", Key: key}), nil), view)
	if len(result.Hits) != 1 {
		t.Fatalf("%d hits, want 1", len(result.Hits))
	}
	return result.Hits[0].Identity
}

func withHeaders(headers map[string][]string) *fakeView {
	view := get("/")
	view.headers = headers
	return view
}

func fromPeer(peer string) *fakeView {
	view := get("/")
	view.peer = netip.MustParseAddr(peer)
	return view
}

// TestIdentitiesThatDiffer has pairs of requests that must be two clients: each
// is a way in which identities were once mixed up.
func TestIdentitiesThatDiffer(t *testing.T) {
	t.Parallel()
	a, b := headerPart(ruleset.MissingShare, "a"), headerPart(ruleset.MissingShare, "b")
	ab := headerPart(ruleset.MissingShare, "a", "b")
	tests := map[string]struct {
		key       []ruleset.KeyPart
		one       *fakeView
		other     *fakeView
		otherKeys []ruleset.KeyPart
	}{
		"another value":           {key: []ruleset.KeyPart{a}, one: withHeaders(map[string][]string{"a": {"1"}}), other: withHeaders(map[string][]string{"a": {"2"}})},
		"second part differs":     {key: []ruleset.KeyPart{a, b}, one: withHeaders(map[string][]string{"a": {"1"}, "b": {"1"}}), other: withHeaders(map[string][]string{"a": {"1"}, "b": {"2"}})},
		"first part differs":      {key: []ruleset.KeyPart{a, b}, one: withHeaders(map[string][]string{"a": {"1"}, "b": {"1"}}), other: withHeaders(map[string][]string{"a": {"2"}, "b": {"1"}})},
		"boundary moved":          {key: []ruleset.KeyPart{a, b}, one: withHeaders(map[string][]string{"a": {"12"}, "b": {"3"}}), other: withHeaders(map[string][]string{"a": {"1"}, "b": {"23"}})},
		"separator in the value":  {key: []ruleset.KeyPart{a, b}, one: withHeaders(map[string][]string{"a": {"1:2"}, "b": {"3"}}), other: withHeaders(map[string][]string{"a": {"1"}, "b": {"2:3"}})},
		"another source":          {key: []ruleset.KeyPart{ab}, one: withHeaders(map[string][]string{"a": {"1"}}), other: withHeaders(map[string][]string{"b": {"1"}})},
		"missing and a value":     {key: []ruleset.KeyPart{a}, one: withHeaders(nil), other: withHeaders(map[string][]string{"a": {"Missing"}})},
		"ambiguous and its first": {key: []ruleset.KeyPart{a}, one: withHeaders(map[string][]string{"a": {"1", "2"}}), other: withHeaders(map[string][]string{"a": {"1"}})},
		"ambiguous and missing":   {key: []ruleset.KeyPart{a}, one: withHeaders(map[string][]string{"a": {"1", ""}}), other: withHeaders(nil)},
		"address and header": {
			key: byClient, one: get("/"),
			otherKeys: []ruleset.KeyPart{a}, other: withHeaders(map[string][]string{"a": {"203.0.113.7/32"}}),
		},
		"another address": {key: byClient, one: fromPeer("203.0.113.7"), other: fromPeer("203.0.113.8")},
		"another network": {key: byClient, one: fromPeer("2001:db8:0:1::1"), other: fromPeer("2001:db8:0:2::1")},
		"rule and parts":  {key: nil, one: get("/"), otherKeys: byClient, other: get("/")},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			otherKey := tc.otherKeys
			if otherKey == nil {
				otherKey = tc.key
			}
			if one := identityOf(t, tc.one, tc.key...); one == identityOf(t, tc.other, otherKey...) {
				t.Errorf("both are %s, want two identities", one)
			}
		})
	}
}

func TestIdentitiesThatAreEqual(t *testing.T) {
	t.Parallel()
	key := headerPart(ruleset.MissingShare, "a")
	fallback := ruleset.KeyPart{From: []ruleset.KeySource{{Kind: ruleset.SourceHeader, Name: "a"}, {Kind: ruleset.SourceClientIP}}}
	tests := map[string]struct {
		key   []ruleset.KeyPart
		one   *fakeView
		other *fakeView
	}{
		"equal duplicates":       {key: []ruleset.KeyPart{key}, one: withHeaders(map[string][]string{"a": {"1"}}), other: withHeaders(map[string][]string{"a": {"1", "1"}})},
		"empty is missing":       {key: []ruleset.KeyPart{key}, one: withHeaders(nil), other: withHeaders(map[string][]string{"a": {""}})},
		"all ambiguous are one":  {key: []ruleset.KeyPart{key}, one: withHeaders(map[string][]string{"a": {"1", "2"}}), other: withHeaders(map[string][]string{"a": {"3", "4"}})},
		"ambiguous by any part":  {key: append([]ruleset.KeyPart{key}, byClient...), one: withHeaders(map[string][]string{"a": {"1", "2"}}), other: withHeaders(map[string][]string{"a": {"3", "4"}})},
		"empty falls back":       {key: []ruleset.KeyPart{fallback}, one: withHeaders(nil), other: withHeaders(map[string][]string{"a": {""}})},
		"mapped address":         {key: byClient, one: fromPeer("203.0.113.7"), other: fromPeer("::ffff:203.0.113.7")},
		"translated address":     {key: byClient, one: fromPeer("203.0.113.7"), other: fromPeer("64:ff9b::cb00:7107")},
		"address of one network": {key: byClient, one: fromPeer("2001:db8::1"), other: fromPeer("2001:db8::ffff:1")},
		"host by another name": {
			key: []ruleset.KeyPart{headerPart(ruleset.MissingShare, "host")},
			one: &fakeView{host: "Shop.Example.com:80"}, other: &fakeView{host: "shop.example.com."},
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if one, other := identityOf(t, tc.one, tc.key...), identityOf(t, tc.other, tc.key...); one != other {
				t.Errorf("identities are %s and %s, want one", one, other)
			}
		})
	}
}

func TestIdentityAcrossRules(t *testing.T) {
	t.Parallel()
	part := headerPart(ruleset.MissingShare, "a")
	rs := rulesWith(
		ruleset.Rule{Name: "one", Key: []ruleset.KeyPart{part}}, ruleset.Rule{Name: "two", Key: []ruleset.KeyPart{part}},
		ruleset.Rule{Name: "whole"}, ruleset.Rule{Name: "whole2"},
	)
	m := mustCompile(t, rs, nil)
	hits := mustMatch(t, m, withHeaders(map[string][]string{"a": {"1"}})).Hits
	if hits[0].Identity != hits[1].Identity {
		t.Errorf("equal keys give %s and %s, want one identity", hits[0].Identity, hits[1].Identity)
	}
	if hits[2].Identity == hits[3].Identity {
		t.Errorf("two rules without key share %s, want one each", hits[2].Identity)
	}
	ambiguous := mustMatch(t, m, withHeaders(map[string][]string{"a": {"1", "2"}})).Hits
	if ambiguous[0].Identity == ambiguous[1].Identity {
		t.Errorf("two rules share the ambiguous identity %s, want one each", ambiguous[0].Identity)
	}
	if !regexp.MustCompile(`^[A-Za-z0-9_-]{22}$`).MatchString(hits[0].Identity) {
		t.Errorf("identity is %q, want 22 base64url characters", hits[0].Identity)
	}
	rs.IdentityKey = []byte("another key of this namespace")
	if again := mustMatch(t, mustCompile(t, rs, nil), withHeaders(map[string][]string{"a": {"1"}})).Hits; again[0].Identity == hits[0].Identity {
		t.Error("identity is the same under another key, want it to depend on the key")
	}
}

func TestOnMissing(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		onMissing  ruleset.OnMissing
		wantHits   string
		wantDenied string
	}{
		"share":  {onMissing: ruleset.MissingShare, wantHits: "keyed other"},
		"absent": {wantHits: "keyed other"},
		"skip":   {onMissing: ruleset.MissingSkip, wantHits: "other"},
		"deny":   {onMissing: ruleset.MissingDeny, wantHits: "other", wantDenied: "keyed"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			m := mustCompile(t, rulesWith(
				ruleset.Rule{Name: "keyed", Limits: []ruleset.Limit{{Name: "l"}}, Key: []ruleset.KeyPart{headerPart(tc.onMissing, "a")}}, ruleset.Rule{Name: "other"},
			), nil)
			result := mustMatch(t, m, get("/"))
			if got := hitNames(result); got != tc.wantHits {
				t.Errorf("hits %q, want %q", got, tc.wantHits)
			}
			denied := ""
			if result.Denied != nil {
				denied = result.Denied.Rule.Name
			}
			if denied != tc.wantDenied {
				t.Errorf("denied by %q, want %q", denied, tc.wantDenied)
			}
		})
	}
}

// A long key costs no more in the store than a short one.
func TestLongKeyIsHashed(t *testing.T) {
	t.Parallel()
	long := make([]byte, 1<<20)
	if got := identityOf(t, withHeaders(map[string][]string{"a": {string(long)}}), headerPart(ruleset.MissingShare, "a")); len(got) != 22 {
		t.Errorf("identity has %d characters, want 22", len(got))
	}
}

func BenchmarkMatch(b *testing.B) {
	m := mustCompile(b, rulesWith(
		ruleset.Rule{Name: "login", Matches: []ruleset.Match{{Path: &ruleset.PathMatch{Type: ruleset.PathExact, Value: "/login"}, Methods: []string{"POST"}}}},
		ruleset.Rule{Name: "api", Key: byClient, Matches: []ruleset.Match{{Path: &ruleset.PathMatch{Type: ruleset.PathPrefix, Value: "/api"}}}},
	), nil)
	for name, target := range map[string]string{"Plain": "/api/items", "Spelled": "/x/%2e%2e//API/Items;a", "NoRule": "/static/app.js"} {
		b.Run(name, func(b *testing.B) {
			view := get(target)
			b.ReportAllocs()
			for b.Loop() {
				if _, err := m.Match(view); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
