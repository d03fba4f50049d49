// Copyright The Penstock Authors.
// SPDX-License-Identifier: Apache-2.0

package match

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/penstock-dev/penstock/internal/ruleset"
)

// The index leaves out no rule that a request meets, and keeps their order.
func TestTheIndexFindsWhatAskingEachRuleFinds(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		rs := rulesWith()
		policy := rs.Policies[0]
		rs.Policies = nil
		for i := range rapid.IntRange(1, 4).Draw(t, "policies") {
			policy.Name = fmt.Sprint("policy-", i)
			policy.PathMatching = rapid.SampledFrom([]ruleset.PathMatching{ruleset.PathLoose, ruleset.PathStrict}).Draw(t, "matching")
			policy.FirstMatch = rapid.Bool().Draw(t, "first match")
			policy.Rules = nil
			for j := range rapid.IntRange(3, 12).Draw(t, "rules") {
				rule := ruleset.Rule{Name: fmt.Sprintf("rule-%d-%d", i, j), Shadow: rapid.Bool().Draw(t, "shadow")}
				for range rapid.IntRange(0, 2).Draw(t, "matches") {
					rule.Matches = append(rule.Matches, drawMatch(t))
				}
				policy.Rules = append(policy.Rules, rule)
			}
			rs.Policies = append(rs.Policies, policy)
		}
		m, err := Compile(rs, nil, Options{})
		if err != nil {
			t.Fatal(err)
		}
		view := get(drawTarget(t) + drawQuery(t))
		view.headers = drawHeaders(t)
		view.host = rapid.SampledFrom([]string{"a.test", "B.a.test:80", "c.b.a.test", "test", ""}).Draw(t, "host")
		byOne := *m
		byOne.index = &index{looksAtLoose: m.index.looksAtLoose, looksAtStrict: m.index.looksAtStrict, entries: m.index.entries, every: m.index.every}
		for i := range m.index.entries {
			byOne.index.loose.below.every.every = append(byOne.index.loose.below.every.every, int32(i))
		}
		want, wantErr := byOne.Match(view)
		got, gotErr := m.Match(view)
		if !errors.Is(gotErr, wantErr) && (gotErr == nil || wantErr == nil) {
			t.Fatalf("%s: error %v, want %v", view.target, gotErr, wantErr)
		}
		if diff := cmp.Diff(hitNames(want), hitNames(got)); diff != "" {
			t.Fatalf("%s (-want +got):\n%s", view.target, diff)
		}
	})
}

func drawMatch(t *rapid.T) ruleset.Match {
	entry := ruleset.Match{Methods: []string{"GET"}}
	path := func(kind ruleset.PathMatchType, values ...string) {
		entry.Path = &ruleset.PathMatch{Type: kind, Value: rapid.SampledFrom(values).Draw(t, "path")}
	}
	switch rapid.IntRange(0, 4).Draw(t, "kind of path") {
	case 0:
		path(ruleset.PathExact, "/", "/a", "/a/b", "/b/a", "/a/", "/a/../b")
	case 1:
		path(ruleset.PathPrefix, "/", "/a", "/a/", "/a/b", "/b")
	case 2:
		path(ruleset.PathTemplate, "/{x}", "/a/{x}", "/{x}/b", "/{x}/{y}", "/{x}/", "/a")
	case 3:
		path(ruleset.PathRegularExpression, "/a.*", "/a/.*", "(/a/b|/a/c)", "/A/b/?", "(?i)/A/.*", ".*", "^/a/b$", "/(a)/b", "/a/b{0}", "a?/b/a")
	}
	for range rapid.SampledFrom([]int{0, 0, 1, 2}).Draw(t, "headers") {
		entry.Headers = append(entry.Headers, drawCondition(t, "x-a", "x-b", "host"))
	}
	for range rapid.SampledFrom([]int{0, 0, 1, 2}).Draw(t, "parameters") {
		entry.QueryParams = append(entry.QueryParams, drawCondition(t, "a", "b", "a b", "a+b"))
	}
	entry.Hosts = rapid.SampledFrom([][]string{nil, nil, {"a.test"}, {"*.a.test"}, {"*.test", "test"}, {"*.b.a.test", "a.test"}}).Draw(t, "hosts")
	return entry
}

var drawnValues = []string{"", "1", "2", "1,2", "1,1", "1;b=2", "a b", "a+b", "%zz", "a.test"}

func drawCondition(t *rapid.T, names ...string) ruleset.ValueMatch {
	kinds := []ruleset.ValueMatchType{ruleset.ValueExact, ruleset.ValueExact, ruleset.ValueExact, ruleset.ValuePresent, ruleset.ValueAbsent, ruleset.ValueRegularExpression}
	drawn := ruleset.ValueMatch{Name: rapid.SampledFrom(names).Draw(t, "name"), Type: rapid.SampledFrom(kinds).Draw(t, "kind of value")}
	switch drawn.Type {
	case ruleset.ValueExact:
		if drawn.Name == hostHeader {
			drawn.Value = "a.test"
			break
		}
		drawn.Value = rapid.SampledFrom(drawnValues).Draw(t, "value")
	case ruleset.ValueRegularExpression:
		drawn.Value = rapid.SampledFrom([]string{"[12]", "1.*", ".*"}).Draw(t, "pattern")
	}
	return drawn
}

func drawHeaders(t *rapid.T) map[string][]string {
	headers := make(map[string][]string)
	for _, name := range []string{"x-a", "x-b"} {
		most := rapid.SampledFrom([]int{0, 1, 3, 12}).Draw(t, "most values")
		values := rapid.SliceOfN(rapid.OneOf(rapid.SampledFrom(drawnValues), rapid.StringMatching("[0-9]")), 0, most).Draw(t, "values")
		if len(values) > 0 {
			headers[name] = values
		}
	}
	return headers
}

func drawQuery(t *rapid.T) string {
	parameters := []string{"", "a=1", "a=2", "b=1", "b=2;a=1", "a=1;b=2", "%61=%31", "a=1,2", "a", "a=%zz", "a=%", "a+b=1", "a%20b=a+b", "a%2Bb=a%20b", "b=1%2C1", "a=3", "a=4&a=5&a=6&a=7&a=8&a=9"}
	query := rapid.SliceOfN(rapid.SampledFrom(parameters), 0, 4).Draw(t, "parameters")
	if len(query) == 0 {
		return ""
	}
	return "?" + strings.Join(query, "&")
}

func drawTarget(t *rapid.T) string {
	if rapid.IntRange(0, 9).Draw(t, "odd target") == 0 {
		return rapid.SampledFrom([]string{"*", "/", "/%00", "//a/b", "http://h/a", "/a/", "/;/a"}).Draw(t, "target")
	}
	target := ""
	for _, segment := range rapid.SliceOfN(rapid.SampledFrom([]string{"a", "b", "c", "A", "..", "a%2Fb", ".", "", "b;v"}), 1, 4).Draw(t, "segments") {
		target += "/" + segment
	}
	return target
}

// A rule is a candidate only where its path and its host may be.
func TestTheIndexLeavesOutOtherPathsAndHosts(t *testing.T) {
	t.Parallel()
	m := mustCompile(t, rulesOfManyPolicies(10_000), nil)
	tests := map[string]struct {
		target, host string
		want         int
	}{
		"no rule":     {target: "/x", host: "x.test"},
		"exact":       {target: "/shop/items/item-500", host: "x.test", want: 1},
		"prefix":      {target: "/service-501/api/x", host: "x.test", want: 1},
		"template":    {target: "/users/me/part-502", host: "x.test", want: 1},
		"expression":  {target: "/files-503/a.zip", host: "x.test", want: 1},
		"host":        {target: "/x", host: "shop-504.example.com", want: 1},
		"domain":      {target: "/x", host: "a.b.tenant-504.example.com", want: 1},
		"path + host": {target: "/users/me/part-502", host: "shop-504.example.com", want: 2},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			view := get(tc.target)
			view.host = tc.host
			request := request{view: view}
			if err := m.readPaths(&request); err != nil {
				t.Fatal(err)
			}
			candidates := m.index.candidates(&request)
			if len(candidates) != tc.want || !slices.IsSorted(candidates) {
				t.Errorf("%d rules are asked, want %d: %v", len(candidates), tc.want, candidates)
			}
		})
	}
}

// A rule for one value of a header or parameter is a candidate only for that value.
func TestTheIndexLeavesOutOtherValues(t *testing.T) {
	t.Parallel()
	m := mustCompile(t, rulesOfManyTenants(10_000, nil), nil)
	headers := func(values ...string) *fakeView {
		view := get("/")
		view.headers = map[string][]string{"x-tenant": values}
		return view
	}
	many := make([]string, fewValues+1)
	for i := range many {
		many[i] = fmt.Sprintf("t-%d", 4*i)
	}
	tests := map[string]struct {
		view *fakeView
		want int
	}{
		"none":                    {view: get("/")},
		"another":                 {view: headers("t")},
		"one":                     {view: headers("t-500"), want: 1},
		"one that is there twice": {view: headers("t-500", "t-500"), want: 1},
		"two":                     {view: headers("t-500", "t-504"), want: 2},
		"two, joined":             {view: headers("t-8", "t-12"), want: 2},
		"more than few":           {view: headers(many...), want: 2500},
		"host and value":          {view: &fakeView{target: "/", host: "a.test", headers: map[string][]string{"x-tenant": {"t-501"}}}, want: 1},
		"another host":            {view: headers("t-501")},
		"a parameter":             {view: get("/?tenant=t-502"), want: 1},
		"a parameter, spelled":    {view: get("/?x=1;%74enant=t%2D502"), want: 1},
		"a parameter and a path":  {view: get("/v1/x?tenant=t-503"), want: 1},
		"both":                    {view: &fakeView{target: "/v1?tenant=t-503", headers: map[string][]string{"x-tenant": {"t-500"}}}, want: 2},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			request := request{view: tc.view}
			if err := m.readPaths(&request); err != nil {
				t.Fatal(err)
			}
			candidates := m.index.candidates(&request)
			if len(candidates) != tc.want || !slices.IsSorted(candidates) {
				t.Errorf("%d rules are asked, want %d", len(candidates), tc.want)
			}
			all := *m
			all.index = &index{looksAtLoose: true, entries: m.index.entries, every: m.index.every}
			all.index.loose.below.every.every = m.index.every
			if got, want := hitNames(mustMatch(t, m, tc.view)), hitNames(mustMatch(t, &all, tc.view)); got != want {
				t.Errorf("counted by %q, want %q", got, want)
			}
		})
	}
}

func TestFirstMatch(t *testing.T) {
	t.Parallel()
	path := func(value string) []ruleset.Match {
		return []ruleset.Match{{Path: &ruleset.PathMatch{Type: ruleset.PathPrefix, Value: value}}}
	}
	skipping := []ruleset.KeyPart{{Name: "k", From: []ruleset.KeySource{{Kind: ruleset.SourceHeader, Name: "x-key"}}, OnMissing: ruleset.MissingSkip}}
	rs := rulesWith(
		ruleset.Rule{Name: "keyed", Matches: path("/a"), Key: skipping},
		ruleset.Rule{Name: "tagged", Matches: []ruleset.Match{{Headers: []ruleset.ValueMatch{{Name: "x-tag", Type: ruleset.ValueExact, Value: "1"}}}}},
		ruleset.Rule{Name: "deep", Matches: path("/a/b")},
		ruleset.Rule{Name: "a", Matches: path("/a")},
		ruleset.Rule{Name: "all"},
	)
	rs.Policies[0].FirstMatch = true
	other := rs.Policies[0]
	other.Name, other.Rules = "web-2", []ruleset.Rule{{Name: "other"}, {Name: "never"}}
	rs.Policies = append(rs.Policies, other)
	m := mustCompile(t, rs, nil)
	tests := map[string]struct {
		target  string
		headers map[string][]string
		want    string
	}{
		"the first in order":                {target: "/a/b", want: "deep other"},
		"a later one":                       {target: "/a/x", want: "a other"},
		"the last":                          {target: "/x", want: "all other"},
		"a key that is there":               {target: "/a/b", headers: map[string][]string{"x-key": {"1"}}, want: "keyed other"},
		"a header":                          {target: "/a/b", headers: map[string][]string{"x-tag": {"1"}}, want: "tagged other"},
		"a header with two values":          {target: "/a/b", headers: map[string][]string{"x-tag": {"1", "2"}}, want: "tagged deep other"},
		"an odd spelling meets all":         {target: "/a//b", want: "deep a all other"},
		"capitals are an odd spelling":      {target: "/A/b", want: "deep a all other"},
		"an odd spelling of another's path": {target: "/a/b/../../x", want: "deep a all other"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			view := get(tc.target)
			view.headers = tc.headers
			// The other policy looks at no path: an odd one is no doubt to it.
			if got := hitNames(mustMatch(t, m, view)); got != tc.want {
				t.Errorf("%s is counted by %q, want %q", tc.target, got, tc.want)
			}
		})
	}
}
