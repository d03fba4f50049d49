// Copyright The Penstock Authors.
// SPDX-License-Identifier: Apache-2.0

package match

import (
	"testing"

	"github.com/penstock-dev/penstock/internal/ruleset"
)

func keyFrom(kind ruleset.KeySourceKind, name string) ruleset.KeyPart {
	return ruleset.KeyPart{Name: "part", From: []ruleset.KeySource{{Kind: kind, Name: name}}}
}

func template(value string) []ruleset.Match {
	return []ruleset.Match{{Path: &ruleset.PathMatch{Type: ruleset.PathTemplate, Value: value}}}
}

// TestKeySources compares two requests by each source: they are one client, or two, or
// the source is missing or ambiguous, and then they are as all such requests are.
func TestKeySources(t *testing.T) {
	t.Parallel()
	cookie := func(line string) *fakeView { return withHeaders(map[string][]string{"cookie": {line}}) }
	host := func(host string) *fakeView {
		view := get("/")
		view.host = host
		return view
	}
	method := func(method string) *fakeView {
		view := get("/")
		view.method = method
		return view
	}
	tests := map[string]struct {
		key        ruleset.KeyPart
		matches    []ruleset.Match
		one, other *fakeView
		want       bool
	}{
		"cookies differ":                 {keyFrom(ruleset.SourceCookie, "s"), nil, cookie("s=a"), cookie("s=b"), false},
		"one cookie":                     {keyFrom(ruleset.SourceCookie, "s"), nil, cookie("s=a"), cookie("x=1; s=a"), true},
		"ambiguous cookies are one":      {keyFrom(ruleset.SourceCookie, "s"), nil, cookie("s=a; s=b"), cookie("s=c; s=d"), true},
		"ambiguous cookie and its last":  {keyFrom(ruleset.SourceCookie, "s"), nil, cookie("s=a; s=b"), cookie("s=b"), false},
		"empty cookie is missing":        {keyFrom(ruleset.SourceCookie, "s"), nil, cookie("s="), get("/"), true},
		"parameters differ":              {keyFrom(ruleset.SourceQueryParam, "k"), nil, get("/?k=a"), get("/?k=b"), false},
		"parameters differ in case":      {keyFrom(ruleset.SourceQueryParam, "k"), nil, get("/?k=a"), get("/?K=a"), false},
		"one parameter, spelled":         {keyFrom(ruleset.SourceQueryParam, "k"), nil, get("/?k=a b"), get("/x?y=1&%6b=%61+b"), true},
		"one parameter in absolute form": {keyFrom(ruleset.SourceQueryParam, "k"), nil, get("/?k=a"), get("http://h?k=a"), true},
		"missing to some by semicolon":   {keyFrom(ruleset.SourceQueryParam, "k"), nil, get("/?x;k=a"), get("/?k=c&k=d"), true},
		"missing to some that drop it":   {keyFrom(ruleset.SourceQueryParam, "k"), nil, get("/?k=a%"), get("/?k=c&k=d"), true},
		"ambiguous by ampersand":         {keyFrom(ruleset.SourceQueryParam, "k"), nil, get("/?k=a&k=b"), get("/?k=c&k=d"), true},
		"ambiguous by semicolon":         {keyFrom(ruleset.SourceQueryParam, "k"), nil, get("/?k=a;k=b"), get("/?k=c;x=d"), true},
		"empty parameter is missing":     {keyFrom(ruleset.SourceQueryParam, "k"), nil, get("/?k="), get("/?k"), true},
		"escaped separators are values":  {keyFrom(ruleset.SourceQueryParam, "k"), nil, get("/?k=a%26k=b"), get("/?k=a%26k=c"), false},
		"path parameters differ":         {keyFrom(ruleset.SourcePathParam, "id"), template("/u/{id}"), get("/u/1"), get("/u/2"), false},
		"one path parameter, spelled":    {keyFrom(ruleset.SourcePathParam, "id"), template("/u/{id}"), get("/u/ab"), get("//U/%61B/"), true},
		"path parameter of two":          {keyFrom(ruleset.SourcePathParam, "id"), template("/{tenant}/u/{id}"), get("/x/u/1"), get("/y/u/1"), true},
		"paths differ":                   {keyFrom(ruleset.SourcePath, ""), nil, get("/a"), get("/b"), false},
		"one path, spelled":              {keyFrom(ruleset.SourcePath, ""), nil, get("/a"), get("//A/;x?y"), true},
		"the path that met the rule": {
			keyFrom(ruleset.SourcePath, ""), []ruleset.Match{{Path: &ruleset.PathMatch{Type: ruleset.PathPrefix, Value: "/a"}}},
			get("/a/b"), get("/a%2fb"), true,
		},
		"methods differ":           {keyFrom(ruleset.SourceMethod, ""), nil, method("GET"), method("HEAD"), false},
		"methods differ in case":   {keyFrom(ruleset.SourceMethod, ""), nil, method("GET"), method("get"), false},
		"one method":               {keyFrom(ruleset.SourceMethod, ""), nil, method("GET"), get("/x"), true},
		"hosts differ":             {keyFrom(ruleset.SourceHost, ""), nil, host("a.example"), host("b.example"), false},
		"one host, spelled":        {keyFrom(ruleset.SourceHost, ""), nil, host("a.example"), host("A.Example.:80"), true},
		"no host is missing":       {keyFrom(ruleset.SourceHost, ""), nil, host(""), host(":80"), true},
		"ports of IPv6 hosts pass": {keyFrom(ruleset.SourceHost, ""), nil, host("[::1]"), host("[::1]:80"), true},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			m := mustCompile(t, rulesWith(ruleset.Rule{Name: "r", Key: []ruleset.KeyPart{tc.key}, Matches: tc.matches}), nil)
			one, other := mustMatch(t, m, tc.one).Hits, mustMatch(t, m, tc.other).Hits
			if len(one) != 1 || len(other) != 1 {
				t.Fatalf("%d and %d hits, want 1 each", len(one), len(other))
			}
			if got := one[0].Identity == other[0].Identity; got != tc.want {
				t.Errorf("both are one identity: %t, want %t", got, tc.want)
			}
		})
	}
}

// TestARuleKeyedByPathLooksAtPaths like one that compares them.
func TestARuleKeyedByPathLooksAtPaths(t *testing.T) {
	t.Parallel()
	rule := ruleset.Rule{Name: "r", Key: []ruleset.KeyPart{keyFrom(ruleset.SourcePath, "")}}
	if _, err := mustCompile(t, rulesWith(rule), nil).Match(get("/%zz")); err == nil {
		t.Error("a path without reading was counted, want ErrBadPath")
	}
	rule.Shadow = true
	if result := mustMatch(t, mustCompile(t, rulesWith(rule, ruleset.Rule{Name: "all"}), nil), get("/%zz")); hitNames(result) != "all" {
		t.Errorf("a path without reading met %s, want only the rule that does not look at paths", hitNames(result))
	}
}

// TestPoliciesReadAddressesByTheirOwnSettings more of them than are remembered.
func TestPoliciesReadAddressesByTheirOwnSettings(t *testing.T) {
	t.Parallel()
	rs := rulesWith(ruleset.Rule{Name: "r", Key: byClient})
	for _, length := range []int{32, 48, 56, 64} {
		policy := rs.Policies[0]
		policy.ClientIP.IPv6PrefixLength = length
		rs.Policies = append(rs.Policies, policy)
	}
	hits := mustMatch(t, mustCompile(t, rs, nil), fromPeer("2001:db8:1:2::3")).Hits
	seen := make(map[string]int)
	for _, hit := range hits {
		seen[hit.Identity]++
	}
	if len(hits) != 5 || len(seen) != 4 || hits[0].Identity != hits[4].Identity {
		t.Errorf("%d hits with identities %v, want 5 with 4, the first like the last", len(hits), seen)
	}
}

func TestSettingsThatAreRefused(t *testing.T) {
	t.Parallel()
	change := func(change func(*ruleset.Policy)) *ruleset.RuleSet {
		rs := rulesWith(ruleset.Rule{Name: "r"})
		change(&rs.Policies[0])
		return rs
	}
	for name, rs := range map[string]*ruleset.RuleSet{
		"no hops":      change(func(p *ruleset.Policy) { p.ClientIP = ruleset.ClientIP{Header: "x", TrustedCIDRs: []string{"::/0"}} }),
		"nobody":       change(func(p *ruleset.Policy) { p.ClientIP = ruleset.ClientIP{Header: "x", TrustedHops: 1} }),
		"no range":     change(func(p *ruleset.Policy) { p.ClientIP.TrustedCIDRs = []string{"10"} }),
		"exempt range": change(func(p *ruleset.Policy) { p.Exempt = &ruleset.Exempt{CIDRs: []string{"10"}} }),
		"exempt path": change(func(p *ruleset.Policy) {
			p.Exempt = &ruleset.Exempt{Paths: []ruleset.PathMatch{{Type: "Odd", Value: "/"}}}
		}),
		"exempt header": change(func(p *ruleset.Policy) { p.Exempt = &ruleset.Exempt{Headers: []ruleset.ExemptHeader{{Name: "A"}}} }),
		"exempt hash": change(func(p *ruleset.Policy) {
			p.Exempt = &ruleset.Exempt{Headers: []ruleset.ExemptHeader{{Name: "a", SHA256: "00"}}}
		}),
		"no name":      change(func(p *ruleset.Policy) { p.Rules[0].Key = []ruleset.KeyPart{keyFrom(ruleset.SourceCookie, "")} }),
		"upper case":   change(func(p *ruleset.Policy) { p.Rules[0].Key = []ruleset.KeyPart{keyFrom(ruleset.SourceHeader, "A")} }),
		"unknown kind": change(func(p *ruleset.Policy) { p.Rules[0].Key = []ruleset.KeyPart{keyFrom("Odd", "a")} }),
	} {
		if _, err := Compile(rs, nil, Options{}); err == nil {
			t.Errorf("%s: compiled, want an error", name)
		}
	}
}
