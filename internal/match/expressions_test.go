// Copyright The Penstock Authors.
// SPDX-License-Identifier: Apache-2.0

package match

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/penstock-dev/penstock/internal/ruleset"
)

// TestWhen looks at which rules a request meets.
func TestWhen(t *testing.T) {
	t.Parallel()
	prefix := func(path string) []ruleset.Match {
		return []ruleset.Match{{Path: &ruleset.PathMatch{Type: ruleset.PathPrefix, Value: path}}}
	}
	tests := map[string]struct {
		rule   ruleset.Rule
		target string
		want   bool
		errors int
	}{
		"holds":                           {rule: ruleset.Rule{When: []string{"request.method == 'GET'"}}, target: "/", want: true},
		"does not":                        {rule: ruleset.Rule{When: []string{"request.method == 'PUT'"}}, target: "/"},
		"all must":                        {rule: ruleset.Rule{When: []string{"true", "request.method == 'PUT'"}}, target: "/"},
		"failing holds":                   {rule: ruleset.Rule{When: []string{"int(request.method) == 1", "true"}}, target: "/", want: true, errors: 1},
		"failing beside one that is not":  {rule: ruleset.Rule{When: []string{"int(request.method) == 1", "false"}}, target: "/", errors: 1},
		"too costly holds":                {rule: ruleset.Rule{When: []string{"request.headers['x-many'].split('').all(c, c == 'b')"}}, target: "/", want: true, errors: 1},
		"not without its match":           {rule: ruleset.Rule{When: []string{"true"}, Matches: prefix("/a")}, target: "/b"},
		"path of the first reading":       {rule: ruleset.Rule{When: []string{"request.path == '/b/c'"}}, target: "/b%2fc", want: true},
		"path of another reading":         {rule: ruleset.Rule{When: []string{"request.path == '/b%2Fc'"}}, target: "/b%2fc", want: true},
		"reading that the match is for":   {rule: ruleset.Rule{When: []string{"request.path == '/c'"}, Matches: prefix("/a")}, target: "/a/%2e%2e/c"},
		"path in canonical form":          {rule: ruleset.Rule{When: []string{"request.path == '/users'"}}, target: "//USERS/;a", want: true},
		"path of a template":              {rule: ruleset.Rule{When: []string{"request.pathParams['id'] == '7'"}, Matches: []ruleset.Match{{Path: &ruleset.PathMatch{Type: ruleset.PathTemplate, Value: "/users/{id}"}}}}, target: "/users/7", want: true},
		"parameter that is not named":     {rule: ruleset.Rule{When: []string{"request.pathParams['id'] == '' && !('id' in request.pathParams)"}}, target: "/users/7", want: true},
		"header by any case, many values": {rule: ruleset.Rule{When: []string{"request.headers['X-Two'] == 'a,b' && !('x-none' in request.headers)"}}, target: "/", want: true},
		"header host":                     {rule: ruleset.Rule{When: []string{"request.headers['host'] == 'shop.example.com'"}}, target: "/", want: true},
		"query":                           {rule: ruleset.Rule{When: []string{"request.query['a b'] == '1,2' && request.query.c == '' && 'c' in request.query && !('d' in request.query)"}}, target: "/?a+b=1&c&a%20b=2&&", want: true},
		"query that is too long":          {rule: ruleset.Rule{When: []string{"request.query['a'] == 'b'"}}, target: "/?" + strings.Repeat("a", maxQueryBytes+1), want: true, errors: 1},
		"client":                          {rule: ruleset.Rule{When: []string{"request.clientIP == '203.0.113.7'"}}, target: "/", want: true},
		"no claims":                       {rule: ruleset.Rule{When: []string{"request.jwt['idp']['sub'] == ''"}}, target: "/", want: true},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			tc.rule.Name = "all"
			view := get(tc.target)
			view.headers = map[string][]string{"x-two": {"a", "b"}, "x-many": {strings.Repeat("b", 4000)}}
			result, err := mustCompile(t, rulesWith(tc.rule), nil).Match(view)
			if err != nil {
				t.Fatal(err)
			}
			if got := len(result.Hits) == 1; got != tc.want || len(result.ExpressionErrors) != tc.errors {
				t.Errorf("meets the rule: %v, want %v; errors %d, want %d", got, tc.want, len(result.ExpressionErrors), tc.errors)
			}
		})
	}
}

// TestMalformedPathsAndExpressions has a path without reading refused only where an
// expression looks at paths.
func TestMalformedPathsAndExpressions(t *testing.T) {
	t.Parallel()
	tier := func(when string) []ruleset.Tier {
		return []ruleset.Tier{{Name: "t", When: when, Limits: []ruleset.Limit{{Name: "l"}}}}
	}
	key := []ruleset.KeyPart{{Name: "k", From: []ruleset.KeySource{{Kind: ruleset.SourceExpression, Name: "request.path"}}}}
	cost := &ruleset.Cost{Request: ruleset.RequestCost{Source: ruleset.CostExpression, Name: "request.path == '/' ? 1 : 2", Max: 9}}
	tests := map[string]struct {
		rule    ruleset.Rule
		refused bool
		hits    int
	}{
		"no path":     {rule: ruleset.Rule{When: []string{"request.method == 'GET'"}}, hits: 1},
		"when":        {rule: ruleset.Rule{When: []string{"request.path != '/'"}}, refused: true},
		"shadow":      {rule: ruleset.Rule{When: []string{"request.path != '/'"}, Shadow: true}},
		"tier":        {rule: ruleset.Rule{Tiers: tier("request.path == '/'")}, refused: true},
		"tier beside": {rule: ruleset.Rule{Tiers: tier("request.host == ''")}, hits: 1},
		"key":         {rule: ruleset.Rule{Key: key}, refused: true},
		"cost":        {rule: ruleset.Rule{Cost: cost}, refused: true},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			tc.rule.Name = "all"
			result, err := mustCompile(t, rulesWith(tc.rule), nil).Match(get("/%2"))
			if errors.Is(err, ErrBadPath) != tc.refused || len(result.Hits) != tc.hits {
				t.Errorf("%d hits, error %v; want %d, refused %v", len(result.Hits), err, tc.hits, tc.refused)
			}
		})
	}
}

// TestAFailingRuleShieldsNoOther has FirstMatch go on after a rule that is met only
// because its expression failed.
func TestAFailingRuleShieldsNoOther(t *testing.T) {
	t.Parallel()
	rules := rulesWith(
		ruleset.Rule{Name: "generous", When: []string{"int(request.headers['x-number']) > 5"}},
		ruleset.Rule{Name: "strict"},
	)
	rules.Policies[0].FirstMatch = true
	m := mustCompile(t, rules, nil)
	for value, want := range map[string]string{"9": "generous", "1": "strict", "x": "generous strict"} {
		view := get("/")
		view.headers = map[string][]string{"x-number": {value}}
		result, err := m.Match(view)
		if err != nil || hitNames(result) != want {
			t.Errorf("%s meets %q, %v, want %q", value, hitNames(result), err, want)
		}
	}
}

// TestTiers looks at the limits by which requests are counted.
func TestTiers(t *testing.T) {
	t.Parallel()
	limits := func(name string) []ruleset.Limit { return []ruleset.Limit{{Name: name}} }
	rule := ruleset.Rule{
		Name: "all", Limits: limits("base"), Matches: []ruleset.Match{{Path: &ruleset.PathMatch{Type: ruleset.PathPrefix, Value: "/"}}},
		Tiers: []ruleset.Tier{
			{Name: "free", When: "request.headers['x-plan'] == 'staff'"},
			{Name: "pro", When: "request.headers['x-plan'] in ['pro', 'staff']", Limits: limits("pro")},
			{Name: "late", When: "request.headers['x-plan'] == 'pro'", Limits: limits("late")},
			{Name: "path", When: "request.path.startsWith('/a/')", Limits: limits("path")},
			{Name: "param", When: "request.pathParams['id'] == '7'", Limits: limits("param")},
		},
	}
	tests := map[string]struct {
		target, plan, tier, limit string
		refused, shadow           bool
	}{
		"none":                       {target: "/", limit: "base"},
		"first that holds":           {target: "/", plan: "pro", tier: "pro", limit: "pro"},
		"unlimited":                  {target: "/", plan: "staff", tier: "free"},
		"an odd path is not":         {target: "/%61", plan: "staff", tier: "pro", limit: "pro"},
		"by path":                    {target: "/a/b", tier: "path", limit: "path"},
		"all readings":               {target: "/a/b%2Fc", tier: "path", limit: "path"},
		"some readings":              {target: "/a/%2e%2e/b", refused: true},
		"some readings, shadow":      {target: "/a/%2e%2e/b", shadow: true, limit: "base"},
		"some readings, other tier":  {target: "/a/%2e%2e/b", plan: "pro", tier: "pro", limit: "pro"},
		"a malformed path of shadow": {target: "/a%2", shadow: true},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			rule := rule
			rule.Shadow = tc.shadow
			view := get(tc.target)
			view.headers = map[string][]string{"x-plan": {tc.plan}}
			result, err := mustCompile(t, rulesWith(rule), nil).Match(view)
			if errors.Is(err, ErrBadPath) != tc.refused {
				t.Fatalf("error %v, want that it is refused: %v", err, tc.refused)
			}
			tier, limit := "", ""
			for _, hit := range result.Hits {
				tier = hit.Tier
				for _, l := range hit.Limits {
					limit += l.Name
				}
			}
			if !tc.refused && (tier != tc.tier || limit != tc.limit) {
				t.Errorf("tier %q with limits %q, want %q with %q", tier, limit, tc.tier, tc.limit)
			}
		})
	}
}

// TestAnUnlimitedTierNeedsNoKey has a request come without what the rule is keyed by.
func TestAnUnlimitedTierNeedsNoKey(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		target, plan string
		onMissing    []ruleset.OnMissing
		want         string
		denied       bool
	}{
		"deny, unlimited":                {target: "/", plan: "staff", onMissing: []ruleset.OnMissing{ruleset.MissingDeny}, want: "keyed"},
		"deny, limited tier":             {target: "/", plan: "pro", onMissing: []ruleset.OnMissing{ruleset.MissingDeny}, denied: true},
		"deny, no tier":                  {target: "/", onMissing: []ruleset.OnMissing{ruleset.MissingDeny}, denied: true},
		"deny, an odd path":              {target: "/%61", plan: "staff", onMissing: []ruleset.OnMissing{ruleset.MissingDeny}, denied: true},
		"skip is no tier's business":     {target: "/", plan: "staff", onMissing: []ruleset.OnMissing{ruleset.MissingSkip}, want: "next"},
		"deny and then skip, unlimited":  {target: "/", plan: "staff", onMissing: []ruleset.OnMissing{ruleset.MissingDeny, ruleset.MissingSkip}, want: "next"},
		"deny and then share, unlimited": {target: "/", plan: "staff", onMissing: []ruleset.OnMissing{ruleset.MissingDeny, ruleset.MissingShare}, want: "keyed"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			rule := ruleset.Rule{
				Name: "keyed", Limits: []ruleset.Limit{{Name: "base"}},
				Matches: []ruleset.Match{{Path: &ruleset.PathMatch{Type: ruleset.PathPrefix, Value: "/"}}},
				Tiers: []ruleset.Tier{
					{Name: "staff", When: "request.headers['x-plan'] == 'staff'"},
					{Name: "pro", When: "request.headers['x-plan'] == 'pro'", Limits: []ruleset.Limit{{Name: "pro"}}},
				},
			}
			for _, onMissing := range tc.onMissing {
				rule.Key = append(rule.Key, headerPart(onMissing, "x-key"))
			}
			rs := rulesWith(rule, ruleset.Rule{Name: "next"})
			rs.Policies[0].FirstMatch = true
			view := get(tc.target)
			view.headers = map[string][]string{"x-plan": {tc.plan}}
			result := mustMatch(t, mustCompile(t, rs, nil), view)
			if denied := result.Denied != nil; denied != tc.denied || !denied && hitNames(result) != tc.want {
				t.Errorf("denied %v, hits %q; want %v, %q", denied, hitNames(result), tc.denied, tc.want)
			}
		})
	}
}

// TestExpressionsOfAQueryThatIsPartedInTwoWays has parameters that are there, or have
// this value, only to apps that part a query at ";" too, or only to those that do not.
func TestExpressionsOfAQueryThatIsPartedInTwoWays(t *testing.T) {
	t.Parallel()
	limits := func(name string) []ruleset.Limit { return []ruleset.Limit{{Name: name}} }
	byExpression := func(text string, onMissing ruleset.OnMissing) []ruleset.KeyPart {
		return []ruleset.KeyPart{{Name: "k", From: []ruleset.KeySource{{Kind: ruleset.SourceExpression, Name: text}}, OnMissing: onMissing}}
	}
	cost := &ruleset.Cost{Request: ruleset.RequestCost{Source: ruleset.CostExpression, Name: "int(request.query['n'])", Max: 100}}
	const isA = "request.query['a'] == '1'"
	tests := map[string]struct {
		rule   ruleset.Rule
		exempt []string
		query  string
		// want are the rules that count the request, each with its limits and cost.
		want   string
		failed int
	}{
		"when, for both":              {rule: ruleset.Rule{When: []string{isA}}, query: "a=1&b=2;c", want: "r/base/1"},
		"when, for one":               {rule: ruleset.Rule{When: []string{isA}}, query: "b=2;a=1", want: "r/base/1 next/base/1"},
		"when, for the other":         {rule: ruleset.Rule{When: []string{"request.query['a'] == '1;b'"}}, query: "a=1;b", want: "r/base/1 next/base/1"},
		"when, for none":              {rule: ruleset.Rule{When: []string{isA}}, query: "a=2;b=1", want: "next/base/1"},
		"when of a header":            {rule: ruleset.Rule{When: []string{"request.method == 'PUT'"}}, query: "b=2;a=1", want: "next/base/1"},
		"an exemption, for both":      {exempt: []string{isA}, query: "b;c&a=1"},
		"an exemption, for one":       {exempt: []string{isA}, query: "b;a=1", want: "r/base/1"},
		"an exemption, for the other": {exempt: []string{"request.query['a'] == ''"}, query: "b;a=1", want: "r/base/1"},
		"a tier, for both":            {rule: ruleset.Rule{Tiers: []ruleset.Tier{{Name: "t", When: isA, Limits: limits("tier")}}}, query: "a=1&;", want: "r/tier/1"},
		"a tier, for one":             {rule: ruleset.Rule{Tiers: []ruleset.Tier{{Name: "t", When: isA, Limits: limits("tier")}}}, query: "b;a=1", want: "r/base/1 r/tier/1"},
		"a tier, for the other":       {rule: ruleset.Rule{Tiers: []ruleset.Tier{{Name: "t", When: isA, Limits: limits("tier")}}}, query: "a=1;a=2&a=1", want: "r/base/1"},
		"two tiers": {rule: ruleset.Rule{Tiers: []ruleset.Tier{
			{Name: "t", When: isA, Limits: limits("tier")}, {Name: "u", When: "request.query['a'] == '1;b'", Limits: limits("other")},
		}}, query: "a=1;b", want: "r/other/1 r/tier/1"},
		"an unlimited tier, for both":         {rule: ruleset.Rule{Tiers: []ruleset.Tier{{Name: "t", When: isA}}}, query: "a=1&;", want: "r//1"},
		"an unlimited tier, for one":          {rule: ruleset.Rule{Tiers: []ruleset.Tier{{Name: "t", When: isA}}}, query: "b;a=1", want: "r/base/1"},
		"an unlimited tier, for the other":    {rule: ruleset.Rule{Tiers: []ruleset.Tier{{Name: "t", When: "request.query['a'] == ''"}}}, query: "b;a=1", want: "r/base/1"},
		"a cost, the larger":                  {rule: ruleset.Rule{Cost: cost}, query: "n=7&b;n=9", want: "r/base/7", failed: 1},
		"a cost that fails to most":           {rule: ruleset.Rule{Cost: cost}, query: "n=100;x", want: "r/base/100", failed: 1},
		"a cost that fails to all":            {rule: ruleset.Rule{Cost: cost}, query: "n=x;", want: "r/base/1", failed: 1},
		"a key that is missing to most":       {rule: ruleset.Rule{Key: byExpression("request.query['k']", ruleset.MissingSkip)}, query: "b;k=1", want: "r/base/1"},
		"a key that is missing to all":        {rule: ruleset.Rule{Key: byExpression("request.query['k']", ruleset.MissingSkip)}, query: "b;c", want: "next/base/1"},
		"a key that fails to most":            {rule: ruleset.Rule{Key: byExpression("string(int(request.query['k']))", ruleset.MissingSkip)}, query: "k=1;c", want: "r/base/1", failed: 1},
		"a tier that fails is told once":      {rule: ruleset.Rule{Tiers: []ruleset.Tier{{Name: "t", When: "int(request.query['n']) > 1"}}}, query: "n;", want: "r/base/1", failed: 1},
		"each condition is told once":         {rule: ruleset.Rule{When: []string{"int(request.query['n']) > 1", "int(request.query['m']) > 1"}}, query: "n=x&m=2&z=;m=", want: "r/base/1 next/base/1", failed: 2},
		"a condition that fails is told once": {rule: ruleset.Rule{When: []string{"int(request.query['n']) > 1"}}, query: "n;", want: "r/base/1 next/base/1", failed: 1},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			tc.rule.Name, tc.rule.Limits = "r", limits("base")
			rs := rulesWith(tc.rule, ruleset.Rule{Name: "next", Limits: limits("base")})
			rs.Policies[0].FirstMatch = true
			if len(tc.exempt) > 0 {
				rs.Policies[0].Exempt = &ruleset.Exempt{When: tc.exempt}
			}
			result := mustMatch(t, mustCompile(t, rs, nil), get("/?"+tc.query))
			var got []string
			for _, hit := range result.Hits {
				limit := ""
				for _, l := range hit.Limits {
					limit += l.Name
				}
				got = append(got, fmt.Sprintf("%s/%s/%d", hit.Rule.Name, limit, hit.Cost))
			}
			if strings.Join(got, " ") != tc.want || len(result.ExpressionErrors) != tc.failed {
				t.Errorf("?%s is counted by %q and %d expressions failed, want %q and %d", tc.query, got, len(result.ExpressionErrors), tc.want, tc.failed)
			}
		})
	}
}

// TestKeysAndExpressionsReadAQueryAlike compares identities by a parameter with those by
// an expression of it.
func TestKeysAndExpressionsReadAQueryAlike(t *testing.T) {
	t.Parallel()
	identities := func(source ruleset.KeySource, query string) string {
		return identityOf(t, get("/?"+query), ruleset.KeyPart{Name: "k", From: []ruleset.KeySource{source}})
	}
	ambiguous := func(source ruleset.KeySource) string { return identities(source, "k=1;x") }
	byParam := ruleset.KeySource{Kind: ruleset.SourceQueryParam, Name: "k"}
	byExpression := ruleset.KeySource{Kind: ruleset.SourceExpression, Name: "request.query['k']"}
	for query, want := range map[string]bool{
		"k=1": false, "k=1&x;y": false, "k=1;x": true, "x;k=1": true, "k=1;k=1": true, "%6B=1;": true, "k=+": false, "": false,
	} {
		for _, source := range []ruleset.KeySource{byParam, byExpression} {
			if got := identities(source, query) == ambiguous(source); got != want {
				t.Errorf("%q by %s: ambiguous %v, want %v", query, source.Kind, got, want)
			}
		}
	}
}

// TestFailuresNameTheirField has each failure told once, with where it is written and why.
func TestFailuresNameTheirField(t *testing.T) {
	t.Parallel()
	const fails = "int(request.method) == 1"
	rules := rulesWith(ruleset.Rule{
		Name: "all", When: []string{fails}, Tiers: []ruleset.Tier{{Name: "t", When: fails}},
		Key:  []ruleset.KeyPart{{Name: "k", From: []ruleset.KeySource{{Kind: ruleset.SourceHeader, Name: "x-key"}, {Kind: ruleset.SourceExpression, Name: "request.method.substring(9)"}}}},
		Cost: &ruleset.Cost{Request: ruleset.RequestCost{Source: ruleset.CostExpression, Name: "int(request.method)", Max: 9}},
	})
	rules.Policies[0].Exempt = &ruleset.Exempt{When: []string{fails}}
	result, err := mustCompile(t, rules, nil).Match(get("/"))
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, failed := range result.ExpressionErrors {
		name := failed.Policy.Name + "/"
		if failed.Rule != nil {
			name += failed.Rule.Name
		}
		got = append(got, name+" "+failed.Field+" "+failed.Reason)
	}
	want := []string{
		"web/all when[0] conversion", "web/ exempt.when[0] conversion", "web/all tiers[0].when conversion",
		"web/all key[0].from[1].expression outside", "web/all cost.request.expression conversion",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("failures (-want +got):\n%s", diff)
	}
	if len(result.Hits) != 1 || result.Hits[0].Cost != 1 || result.Hits[0].Tier != "" {
		t.Errorf("hits: %+v, want one of cost 1 without tier", result.Hits)
	}
}

func TestCostExpressions(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]int64{"5": 5, "0": 1, "-3": 1, "99": 9, "x": 1, "": 1} {
		rule := ruleset.Rule{Name: "all", Cost: &ruleset.Cost{Request: ruleset.RequestCost{Source: ruleset.CostExpression, Name: "int(request.query['n'])", Max: 9}}}
		result, err := mustCompile(t, rulesWith(rule), nil).Match(get("/?n=" + text))
		if err != nil || len(result.Hits) != 1 || result.Hits[0].Cost != want {
			t.Errorf("n=%s: %+v, %v, want cost %d", text, result.Hits, err, want)
		}
	}
}

// TestCompileRefusesExpressions has a rule set of another version refused as a whole,
// with the rule that this one does not understand.
func TestCompileRefusesExpressions(t *testing.T) {
	t.Parallel()
	const bad = "request.from.the.future"
	for name, rule := range map[string]ruleset.Rule{
		"when:":      {When: []string{bad}},
		"tier \"t\"": {Tiers: []ruleset.Tier{{Name: "t", When: bad}}},
		"key part":   {Key: []ruleset.KeyPart{{Name: "k", From: []ruleset.KeySource{{Kind: ruleset.SourceExpression, Name: bad}}}}},
		"cost:":      {Cost: &ruleset.Cost{Request: ruleset.RequestCost{Source: ruleset.CostExpression, Name: bad, Max: 1}}},
	} {
		rule.Name = "all"
		if _, err := Compile(rulesWith(rule), nil, Options{}); err == nil || !strings.Contains(err.Error(), name) || !strings.Contains(err.Error(), `rule "all"`) {
			t.Errorf("error %v, want one that names the rule and says %q", err, name)
		}
	}
}

func BenchmarkMatchWhen(b *testing.B) {
	for _, rules := range []int{0, 1, 10} {
		b.Run(strconv.Itoa(rules), func(b *testing.B) {
			var all []ruleset.Rule
			for i := range rules {
				all = append(all, ruleset.Rule{Name: strconv.Itoa(i), When: []string{"request.headers['x-plan'] == 'pro'"}})
			}
			m := mustCompile(b, rulesWith(all...), nil)
			view := get("/")
			b.ReportAllocs()
			for b.Loop() {
				if _, err := m.Match(view); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
