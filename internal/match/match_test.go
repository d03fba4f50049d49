// Copyright The Penstock Authors.
// SPDX-License-Identifier: Apache-2.0

package match

import (
	"errors"
	"net/netip"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/penstock-dev/penstock/internal/ruleset"
)

var byClient = []ruleset.KeyPart{{Name: "client", From: []ruleset.KeySource{{Kind: ruleset.SourceClientIP}}}}

func rulesWith(rules ...ruleset.Rule) *ruleset.RuleSet {
	return &ruleset.RuleSet{
		Format: ruleset.Format, Namespace: "shop", IdentityKey: []byte("0123456789abcdef"),
		Policies: []ruleset.Policy{{
			Kind: "RateLimitPolicy", Name: "web", Selectors: []ruleset.Selector{{}},
			ClientIP: ruleset.ClientIP{IPv6PrefixLength: 64}, PathMatching: ruleset.PathLoose, Rules: rules,
		}},
	}
}

func mustCompile(t testing.TB, rs *ruleset.RuleSet, labels map[string]string) *Matcher {
	t.Helper()
	m, err := Compile(rs, labels, Options{})
	if err != nil {
		t.Fatal(err)
	}
	return m
}

func get(target string) *fakeView {
	return &fakeView{method: "GET", target: target, host: "shop.example.com", peer: netip.MustParseAddr("203.0.113.7"), port: 8080}
}

func hitNames(result Result) string {
	var names []string
	for _, hit := range result.Hits {
		names = append(names, hit.Rule.Name)
	}
	return strings.Join(names, " ")
}

func TestMatchFindsRules(t *testing.T) {
	t.Parallel()
	m := mustCompile(t, rulesWith(
		ruleset.Rule{Name: "all"},
		ruleset.Rule{Name: "login", Matches: []ruleset.Match{{Path: &ruleset.PathMatch{Type: ruleset.PathExact, Value: "/login"}, Methods: []string{"POST"}}}},
		ruleset.Rule{Name: "api", Matches: []ruleset.Match{
			{Path: &ruleset.PathMatch{Type: ruleset.PathPrefix, Value: "/api"}},
			{Path: &ruleset.PathMatch{Type: ruleset.PathPrefix, Value: "/v2/api/"}},
		}},
		ruleset.Rule{Name: "root", Matches: []ruleset.Match{{Path: &ruleset.PathMatch{Type: ruleset.PathPrefix, Value: "/"}, Methods: []string{"DELETE"}}}},
	), nil)
	tests := map[string]struct{ method, target, want string }{
		"only all":                           {method: "GET", target: "/", want: "all"},
		"method differs":                     {method: "GET", target: "/login", want: "all"},
		"method as sent":                     {method: "post", target: "/login", want: "all"},
		"exact":                              {method: "POST", target: "/login", want: "all login"},
		"exact is not a prefix":              {method: "POST", target: "/login/x", want: "all"},
		"exact by another name":              {method: "POST", target: "//LOGIN;a/.", want: "all login"},
		"prefix whole":                       {method: "GET", target: "/api", want: "all api"},
		"prefix below":                       {method: "GET", target: "/api/x", want: "all api"},
		"prefix by segment":                  {method: "GET", target: "/apix", want: "all"},
		"prefix of alternatives":             {method: "GET", target: "/v2/api", want: "all api"},
		"prefix under both ways":             {method: "GET", target: "/api/%2e%2e/x", want: "all api"},
		"prefix to one who resolves no dots": {method: "GET", target: "/api/../x", want: "all api"},
		"root prefix":                        {method: "DELETE", target: "/x", want: "all root"},
		"root prefix of asterisk":            {method: "DELETE", target: "*", want: "all root"},
		"query is not path":                  {method: "POST", target: "/x?/login", want: "all"},
		"absolute form":                      {method: "POST", target: "http://h/login", want: "all login"},
		"override header no effect":          {method: "GET", target: "/login", want: "all"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			view := get(tc.target)
			view.method = tc.method
			view.headers = map[string][]string{"x-http-method-override": {"POST"}}
			result, err := m.Match(view)
			if err != nil {
				t.Fatal(err)
			}
			if got := hitNames(result); got != tc.want {
				t.Errorf("%s %s meets %q, want %q", tc.method, tc.target, got, tc.want)
			}
		})
	}
}

func TestBadPathOnlyWhereRulesLookAtPaths(t *testing.T) {
	t.Parallel()
	blind := mustCompile(t, rulesWith(ruleset.Rule{Name: "all"}), nil)
	if _, err := blind.Match(get("/%00")); err != nil {
		t.Errorf("without path rules: %v, want none", err)
	}
	seeing := mustCompile(t, rulesWith(ruleset.Rule{Name: "a", Matches: []ruleset.Match{{Path: &ruleset.PathMatch{Type: ruleset.PathExact, Value: "/a"}}}}), nil)
	if _, err := seeing.Match(get("/%00")); !errors.Is(err, ErrBadPath) {
		t.Errorf("with path rules: %v, want ErrBadPath", err)
	}
}

func TestSpellingThatMeetsTooManyLimitsIsRefused(t *testing.T) {
	t.Parallel()
	const spelling = "/a%2f../b/%2e%2e/c"
	read, err := readPath(spelling, ruleset.PathLoose)
	if err != nil {
		t.Fatal(err)
	}
	// Each reading meets a rule of its own. Every one of them fits, all do not.
	var rules []ruleset.Rule
	for i, reading := range read.all() {
		rules = append(rules, ruleset.Rule{
			Name: string(rune('a' + i)), Limits: make([]ruleset.Limit, 8),
			Matches: []ruleset.Match{{Path: &ruleset.PathMatch{Type: ruleset.PathExact, Value: reading}}},
		})
	}
	matcher := mustCompile(t, rulesWith(rules...), nil)
	if result, err := matcher.Match(get("/c")); err != nil || len(result.Hits) != 1 {
		t.Errorf("plain spelling: %d rules, %v, want one", len(result.Hits), err)
	}
	if _, err := matcher.Match(get(spelling)); !errors.Is(err, ErrBadPath) {
		t.Errorf("spelling that meets %d limits: %v, want ErrBadPath", 8*len(rules), err)
	}
}

func TestPolicySelectsPodAndPort(t *testing.T) {
	t.Parallel()
	rs := rulesWith(ruleset.Rule{Name: "all"})
	rs.Policies[0].Selectors = []ruleset.Selector{
		{MatchLabels: map[string]string{"app": "web"}, Port: 8080},
		{MatchLabels: map[string]string{"app": "web"}, Port: 9090},
		{MatchLabels: map[string]string{"app": "job"}},
	}
	tests := map[string]struct {
		app  string
		port int32
		want string
	}{
		"selected port":    {app: "web", port: 8080, want: "all"},
		"other selector":   {app: "web", port: 9090, want: "all"},
		"port not covered": {app: "web", port: 7070, want: ""},
		"every port":       {app: "job", port: 7070, want: "all"},
		"not selected":     {app: "other", port: 8080, want: ""},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			view := get("/")
			view.port = tc.port
			result, err := mustCompile(t, rs, map[string]string{"app": tc.app}).Match(view)
			if err != nil {
				t.Fatal(err)
			}
			if got := hitNames(result); got != tc.want {
				t.Errorf("meets %q, want %q", got, tc.want)
			}
		})
	}
}

func TestCompileRefuses(t *testing.T) {
	t.Parallel()
	noKey := rulesWith(ruleset.Rule{Name: "all"})
	noKey.IdentityKey = nil
	tests := map[string]struct {
		rs      *ruleset.RuleSet
		wantErr string
	}{
		"no identity key":      {rs: noKey, wantErr: "no identity key"},
		"unknown path type":    {rs: rulesWith(ruleset.Rule{Name: "a", Matches: []ruleset.Match{{Path: &ruleset.PathMatch{Type: "Glob", Value: "/*"}}}}), wantErr: `type "Glob" is not known`},
		"empty path":           {rs: rulesWith(ruleset.Rule{Name: "a", Matches: []ruleset.Match{{Path: &ruleset.PathMatch{Type: ruleset.PathExact}}}}), wantErr: "empty path"},
		"unknown key source":   {rs: rulesWith(ruleset.Rule{Name: "a", Key: []ruleset.KeyPart{{From: []ruleset.KeySource{{Kind: "Moon"}}}}}), wantErr: `kind "Moon" is not known`},
		"header in upper case": {rs: rulesWith(ruleset.Rule{Name: "a", Key: []ruleset.KeyPart{{From: []ruleset.KeySource{{Kind: ruleset.SourceHeader, Name: "X-Key"}}}}}), wantErr: "not in lower case"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if _, err := Compile(tc.rs, nil, Options{}); err == nil || !strings.Contains(err.Error(), tc.wantErr) {
				t.Errorf("Compile = %v, want an error with %q", err, tc.wantErr)
			}
		})
	}
	if diff := cmp.Diff(Result{}, mustMatch(t, mustCompile(t, &ruleset.RuleSet{Namespace: "shop"}, nil), get("/"))); diff != "" {
		t.Errorf("an empty rule set (-want +got):\n%s", diff)
	}
}

func mustMatch(t testing.TB, m *Matcher, view View) Result {
	t.Helper()
	result, err := m.Match(view)
	if err != nil {
		t.Fatal(err)
	}
	return result
}
