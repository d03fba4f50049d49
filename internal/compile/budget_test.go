// Copyright The Penstock Authors.
// SPDX-License-Identifier: Apache-2.0

package compile

import (
	"errors"
	"fmt"
	"net/netip"
	"testing"

	"pgregory.net/rapid"

	"github.com/penstock-dev/penstock/internal/match"
	"github.com/penstock-dev/penstock/internal/ruleset"
)

func TestLimitsPerRequest(t *testing.T) {
	t.Parallel()
	rule := func(limits int, matches ...ruleset.Match) ruleset.Rule {
		return ruleset.Rule{Limits: make([]ruleset.Limit, limits), Matches: matches}
	}
	at := func(kind ruleset.PathMatchType, value string, methods ...string) ruleset.Match {
		return ruleset.Match{Path: &ruleset.PathMatch{Type: kind, Value: value}, Methods: methods}
	}
	const exact, prefix, template, expression = ruleset.PathExact, ruleset.PathPrefix, ruleset.PathTemplate, ruleset.PathRegularExpression
	on := func(hosts ...string) ruleset.Match { return ruleset.Match{Hosts: hosts} }
	tiered := rule(2)
	tiered.Tiers = []ruleset.Tier{{Limits: make([]ruleset.Limit, 5)}, {}}
	tests := map[string]struct {
		rules []ruleset.Rule
		want  int
	}{
		"none":                               {nil, 0},
		"all overlap":                        {[]ruleset.Rule{rule(2), rule(3)}, 5},
		"an alternative counts a rule once":  {[]ruleset.Rule{rule(2, at(exact, "/a"), at(exact, "/b"))}, 2},
		"a prefix holds what is below":       {[]ruleset.Rule{rule(1, at(prefix, "/a")), rule(2, at(exact, "/a/b"))}, 3},
		"methods apart":                      {[]ruleset.Rule{rule(2, ruleset.Match{Methods: []string{"GET"}}), rule(3, ruleset.Match{Methods: []string{"PUT"}})}, 3},
		"method and path":                    {[]ruleset.Rule{rule(2, at(prefix, "/a", "GET")), rule(3, at(prefix, "/a", "PUT")), rule(1)}, 4},
		"four readings meet four paths":      {[]ruleset.Rule{rule(1, at(exact, "/a")), rule(1, at(exact, "/b")), rule(1, at(exact, "/c")), rule(1, at(exact, "/d")), rule(1, at(exact, "/e"))}, 4},
		"what paths share counts once":       {[]ruleset.Rule{rule(5, at(prefix, "/a")), rule(1, at(exact, "/a/b")), rule(1, at(exact, "/a/c"))}, 7},
		"hosts apart":                        {[]ruleset.Rule{rule(2, on("a.test")), rule(3, on("b.test")), rule(1)}, 4},
		"a domain holds its hosts":           {[]ruleset.Rule{rule(2, on("*.a.test")), rule(3, on("b.a.test")), rule(4, on("*.b.a.test"))}, 6},
		"a domain is not below itself":       {[]ruleset.Rule{rule(2, on("*.a.test")), rule(3, on("a.test"))}, 3},
		"a template holds a literal":         {[]ruleset.Rule{rule(2, at(template, "/users/{id}")), rule(3, at(exact, "/users/me"))}, 5},
		"templates apart":                    {[]ruleset.Rule{rule(8, at(template, "/a/{x}/c")), rule(8, at(template, "/a/{x}/d")), rule(8, at(template, "/a/{x}")), rule(8, at(template, "/b/{x}")), rule(8, at(template, "/b/{x}/c"))}, 32},
		"templates that meet":                {[]ruleset.Rule{rule(1, at(template, "/{x}/b")), rule(2, at(template, "/a/{y}")), rule(4, at(prefix, "/a/b"))}, 7},
		"an expression may be any path":      {[]ruleset.Rule{rule(1, at(expression, "/a")), rule(2, at(exact, "/b"))}, 3},
		"the largest of tiers":               {[]ruleset.Rule{tiered}, 5},
		"spellings of one path are one path": {[]ruleset.Rule{rule(1, at(exact, "/A;v=1")), rule(1, at(exact, "/a")), rule(1, at(exact, "/a/")), rule(1, at(exact, "/b")), rule(1, at(exact, "/c")), rule(1, at(exact, "/d")), rule(1, at(exact, "/e"))}, 6},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got := limitsPerRequest([]*ruleset.Policy{{Selectors: []ruleset.Selector{{}}, Rules: tc.rules}})
			if got != tc.want {
				t.Errorf("%d limits per request, want %d", got, tc.want)
			}
		})
	}
}

// The bound may be too high, never too low: no pod and no path of up to four
// readings, as the sidecar matches them, meets more. Spellings with more readings
// are the sidecar's to refuse where they meet too much.
func TestBudgetIsNeverTooLow(t *testing.T) {
	t.Parallel()
	alphabets := [][]string{{"a", "b", "A", "a%2Fb", "b;p=1"}, {"a", "b", "A", ".."}}
	rapid.Check(t, func(t *rapid.T) {
		forms := drawForms(t)
		bound := limitsPerRequest(forms)
		rules := &ruleset.RuleSet{Format: ruleset.Format, IdentityKey: []byte("key")}
		for _, form := range forms {
			rules.Policies = append(rules.Policies, *form)
		}
		labels := map[string]string{"app": rapid.SampledFrom([]string{"a", "b", "c"}).Draw(t, "app"), "tier": rapid.SampledFrom([]string{"x", "y"}).Draw(t, "tier")}
		matcher, err := match.Compile(rules, labels, match.Options{})
		if err != nil {
			t.Fatal(err)
		}
		// The app may read this one as /b, and as /b/a.
		target := "/b/a%2Fb/.."
		if rapid.Bool().Draw(t, "any target") {
			target = ""
			segments := rapid.SampledFrom(alphabets).Draw(t, "alphabet")
			for range rapid.IntRange(1, 4).Draw(t, "segments") {
				target += "/" + rapid.SampledFrom(segments).Draw(t, "segment")
			}
		}
		host := rapid.SampledFrom([]string{"a.test", "b.a.test", "c.b.a.test", "test", "x.test"}).Draw(t, "host")
		result, err := matcher.Match(request{host: host, method: rapid.SampledFrom([]string{"GET", "PUT", "HEAD"}).Draw(t, "method"), target: target})
		if errors.Is(err, match.ErrBadPath) && bound > maxLimitsPerRequest {
			return // such policies are never in force together
		}
		if err != nil {
			t.Fatal(err)
		}
		met := 0
		for _, hit := range result.Hits {
			met += len(hit.Rule.Limits)
		}
		if met > bound {
			t.Fatalf("%s%s met %d limits, the bound is %d", host, target, met, bound)
		}
	})
}

func drawForms(t *rapid.T) []*ruleset.Policy {
	forms := make([]*ruleset.Policy, rapid.IntRange(1, 4).Draw(t, "policies"))
	for i := range forms {
		forms[i] = &ruleset.Policy{
			Kind: KindRateLimitPolicy, Name: fmt.Sprint(i), Selectors: rapid.SliceOfN(rapid.Custom(drawSelector), 1, 3).Draw(t, "selectors"),
			PathMatching: rapid.SampledFrom([]ruleset.PathMatching{ruleset.PathLoose, ruleset.PathStrict}).Draw(t, "matching"),
		}
		for range rapid.IntRange(1, 4).Draw(t, "rules") {
			forms[i].Rules = append(forms[i].Rules, drawRule(t))
		}
	}
	return forms
}

func drawSelector(t *rapid.T) ruleset.Selector {
	selector := ruleset.Selector{MatchLabels: map[string]string{}}
	if rapid.Bool().Draw(t, "by app") {
		selector.MatchLabels["app"] = rapid.SampledFrom([]string{"a", "b", "c"}).Draw(t, "app")
	}
	if rapid.Bool().Draw(t, "by tier") {
		selector.MatchExpressions = []ruleset.Requirement{{Key: "tier", Operator: "In", Values: []string{rapid.SampledFrom([]string{"x", "y"}).Draw(t, "tier")}}}
	}
	return selector
}

func drawRule(t *rapid.T) ruleset.Rule {
	rule := ruleset.Rule{Name: "rule", Limits: make([]ruleset.Limit, rapid.IntRange(1, 8).Draw(t, "limits"))}
	for range rapid.SampledFrom([]int{0, 1, 1, 1, 1, 2}).Draw(t, "matches") {
		m := ruleset.Match{}
		if rapid.IntRange(0, 4).Draw(t, "by path") > 0 {
			m.Path = drawPath(t)
		}
		m.Hosts = rapid.SampledFrom([][]string{nil, nil, {"a.test"}, {"*.a.test"}, {"*.test", "test"}, {"*.b.a.test", "b.a.test"}}).Draw(t, "hosts")
		if rapid.IntRange(0, 3).Draw(t, "by method") == 0 || m.Path == nil {
			m.Methods = []string{rapid.SampledFrom([]string{"GET", "PUT"}).Draw(t, "method")}
		}
		rule.Matches = append(rule.Matches, m)
	}
	return rule
}

func drawPath(t *rapid.T) *ruleset.PathMatch {
	kind := rapid.SampledFrom([]ruleset.PathMatchType{ruleset.PathExact, ruleset.PathPrefix, ruleset.PathTemplate, ruleset.PathTemplate, ruleset.PathRegularExpression}).Draw(t, "type")
	values := []string{"/a", "/b", "/a/b", "/b/a"}
	switch kind {
	case ruleset.PathTemplate:
		values = []string{"/{x}", "/a/{x}", "/{x}/b", "/{x}/{y}", "/{x}/a/{y}", "/b"}
	case ruleset.PathRegularExpression:
		values = []string{"/a.*", "/b/?", ".*"}
	}
	return &ruleset.PathMatch{Type: kind, Value: rapid.SampledFrom(values).Draw(t, "path")}
}

// request is a request as matching sees it.
type request struct {
	method, target, host string
}

func (r request) Method() string       { return r.method }
func (r request) Target() string       { return r.target }
func (r request) Host() string         { return r.host }
func (request) Header(string) []string { return nil }
func (request) Peer() netip.Addr       { return netip.MustParseAddr("192.0.2.1") }
func (request) Scheme() string         { return "http" }
func (request) LocalPort() int32       { return 8080 }

func TestMayShareAPod(t *testing.T) {
	t.Parallel()
	in := func(label string, values ...string) ruleset.Selector {
		return ruleset.Selector{MatchExpressions: []ruleset.Requirement{{Key: label, Operator: "In", Values: values}}}
	}
	tests := map[string]struct {
		a, b ruleset.Selector
		want bool
	}{
		"equal":                     {appSelector("web"), appSelector("web"), true},
		"another value":             {appSelector("web"), appSelector("api"), false},
		"every pod":                 {appSelector("web"), ruleset.Selector{}, true},
		"another label":             {appSelector("web"), in("tier", "x"), true},
		"a list with the value":     {appSelector("web"), in("app", "api", "web"), true},
		"a list without the value":  {appSelector("web"), in("app", "api"), false},
		"lists with a value alike":  {in("app", "a", "b"), in("app", "b", "c"), true},
		"lists without":             {in("app", "a"), in("app", "c"), false},
		"an operator not looked at": {appSelector("web"), ruleset.Selector{MatchExpressions: []ruleset.Requirement{{Key: "app", Operator: "DoesNotExist"}}}, true},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			some, others := []ruleset.Selector{tc.a}, []ruleset.Selector{tc.b}
			if got, reverse := mayShareAPod(some, others), mayShareAPod(others, some); got != tc.want || reverse != tc.want {
				t.Errorf("mayShareAPod gives %t, and %t the other way round; want %t", got, reverse, tc.want)
			}
		})
	}
}
