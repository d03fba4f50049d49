// Copyright The Penstock Authors.
// SPDX-License-Identifier: Apache-2.0

package match

import (
	"net/url"
	"strings"
	"testing"

	"github.com/penstock-dev/penstock/internal/ruleset"
)

func TestParametersBeyondWhatAppsReadAreInDoubt(t *testing.T) {
	t.Parallel()
	filler := strings.Repeat("x&", maxSureParameters-1)
	for query, want := range map[string]bool{filler + "debug": false, filler + "x&debug": true} {
		absent := condition{name: "debug", kind: ruleset.ValueAbsent}
		if holds, _ := absent.holdsForQuery(query); holds != want {
			t.Errorf("after %d parameters, debug is absent to some app: %t, want %t", strings.Count(query, "&"), holds, want)
		}
		present := condition{name: "debug", kind: ruleset.ValuePresent}
		if holds, surely := present.holdsForQuery(query); !holds || surely == want {
			t.Errorf("after %d parameters, debug is present: %t, surely: %t", strings.Count(query, "&"), holds, surely)
		}
	}
}

// What is too long to be looked at meets the rule, in doubt.
func TestExpressionsLookAtABoundedText(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("b", maxRead+1)
	conditions, err := compileConditions([]ruleset.ValueMatch{{Name: "a", Type: ruleset.ValueRegularExpression, Value: "a+"}})
	if err != nil {
		t.Fatal(err)
	}
	if holds, surely := conditions[0].holdsForQuery("a=" + long); !holds || surely {
		t.Errorf("a long value holds %t, surely %t; want it to hold in doubt", holds, surely)
	}
	rule := ruleset.Rule{Name: "a", Matches: []ruleset.Match{{Path: &ruleset.PathMatch{Type: ruleset.PathRegularExpression, Value: "/a+"}}}}
	m := mustCompile(t, rulesWith(rule), nil)
	how, meets := m.policies[0].rules[0].meets(&request{view: get("/")}, []string{"/" + long})
	if !meets || !how.inDoubt {
		t.Errorf("a long path meets %t, in doubt %t; want it to meet in doubt", meets, how.inDoubt)
	}
}

func TestRegularExpressionsThatAreRefused(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		expression string
		matching   ruleset.PathMatching
		want       string
	}{
		"a bracket":                       {expression: "/a/(b", want: "missing closing )"},
		"where it is":                     {expression: "/ab[z-a]", want: "invalid character class range at character 5, in \"z-a\""},
		"a bracket too many":              {expression: "/a)|(b", want: "unexpected )"},
		"a look-ahead":                    {expression: "/a(?=b)", want: "at character 3"},
		"too long":                        {expression: "/" + strings.Repeat("a", maxRegularExpression), want: "at most 512"},
		"too much work":                   {expression: "/[a-z]{800}[0-9]{800}", want: "too much work"},
		"no slash":                        {expression: "api/.*", want: `write "/api/.*"`},
		"an anchor and no slash":          {expression: "^api", want: `write "/api"`},
		"a letter beyond ASCII":           {expression: "/caf\u00e9", want: `write "%C3%89"`},
		"such a letter, strict":           {expression: "/caf\u00e9", matching: ruleset.PathStrict, want: `write "%C3%A9"`},
		"a space":                         {expression: "/a b", want: `write "%20"`},
		"an escape that is not canonical": {expression: "/%2E", want: `write "\\."`},
		"lower-case digits, strict":       {expression: "/%2f", matching: ruleset.PathStrict, want: `write "%2F"`},
		"an escape that is folded":        {expression: "/%C3%A9", want: `write "%C3%89"`},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			err := CheckPathExpression(tc.expression, tc.matching)
			if err == nil || !strings.Contains(err.Error(), tc.want) {
				t.Errorf("CheckPathExpression(%q) = %v, want an error with %q", tc.expression, err, tc.want)
			}
		})
	}
	for _, expression := range []string{"/a|/b", "/.*", ".*", "^/a$", "(?i)/A", "/%2f", "/[^/]+/x", "(/a)?/b", "/\\d{1,9}"} {
		if err := CheckPathExpression(expression, ruleset.PathLoose); err != nil {
			t.Errorf("CheckPathExpression(%q) = %v, want none", expression, err)
		}
	}
}

func TestMatchesThatAreRefused(t *testing.T) {
	t.Parallel()
	for want, entry := range map[string]ruleset.Match{
		"not in lower case without port":  {Hosts: []string{"Shop.example.com"}},
		"not a whole first label":         {Hosts: []string{"a.*.example.com"}},
		`type "Glob" is not known`:        {Headers: []ruleset.ValueMatch{{Name: "a", Type: "Glob"}}},
		`"X-Env" is not in lower case`:    {Headers: []ruleset.ValueMatch{{Name: "X-Env", Type: ruleset.ValuePresent}}},
		"missing closing )":               {QueryParams: []ruleset.ValueMatch{{Name: "a", Type: ruleset.ValueRegularExpression, Value: "("}}},
		"missing argument to repetition":  {Path: &ruleset.PathMatch{Type: ruleset.PathRegularExpression, Value: "*"}},
		"of type Template has an empty p": {Path: &ruleset.PathMatch{Type: ruleset.PathTemplate}},
	} {
		_, err := Compile(rulesWith(ruleset.Rule{Name: "a", Matches: []ruleset.Match{entry}}), nil, Options{})
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("Compile of %+v = %v, want an error with %q", entry, err, want)
		}
	}
}

// checkSeenQuery holds that expressions see what keys and costs find, and what net/url
// reads where there is one way to read it.
func checkSeenQuery(t *testing.T, query, name string, read []string) {
	t.Helper()
	if len(query) > maxQueryBytes {
		return
	}
	var found []string
	forParameter("/?"+query, name, func(value string) { found = append(found, value) })
	anywhere := false
	for _, parted := range []separation{atAmpersands, atSemicolons} {
		seen := scope{request: &request{view: get("/?" + query), parted: parted}}
		value, present, _ := seen.parameter(name)
		anywhere = anywhere || present
		if only, ambiguous := queryValue("/?"+query, name); len(found) == 1 && !ambiguous && present && value != only {
			t.Errorf("%q: an expression sees %q of %q, a key %q", query, value, name, only)
		}
		if !strings.ContainsAny(query, ";") && !strings.ContainsAny(name, "+%") && isWellEscaped(query) && value != strings.Join(read, ",") {
			t.Errorf("%q: an expression sees %q of %q, net/url reads %q", query, value, name, read)
		}
	}
	if anywhere != (len(found) > 0) {
		t.Errorf("%q: a key has %d values of %q, to an expression it is there: %v", query, len(found), name, anywhere)
	}
}

// FuzzQuery holds what must be true of any query: what net/url reads is never missed,
// and a parameter is there, or not, or in doubt.
func FuzzQuery(f *testing.F) {
	for _, seed := range []string{"debug=1", "a;debug=1&debug=2", "%64ebug=%31&debug", "debug=%zz;debug", "de+bug=a+b", "debug=a&debug=b;debug=c", ";;&&=;debug"} {
		f.Add(seed, "debug", "1")
	}
	f.Fuzz(func(t *testing.T, query, name, value string) {
		if name == "" {
			return
		}
		judge := func(kind ruleset.ValueMatchType) (holds, surely bool) {
			c := condition{name: name, kind: kind, value: value}
			return c.holdsForQuery(query)
		}
		present, surelyPresent := judge(ruleset.ValuePresent)
		absent, surelyAbsent := judge(ruleset.ValueAbsent)
		exact, _ := judge(ruleset.ValueExact)
		if !present && !absent || present == (absent && surelyAbsent) || absent == (present && surelyPresent) {
			t.Errorf("%q in %q: present %t, surely %t; absent %t, surely %t", name, query, present, surelyPresent, absent, surelyAbsent)
		}
		// ParseQuery drops what it cannot read, and gives the rest with an error.
		read, _ := url.ParseQuery(query)
		if len(read[name]) > 0 && !present {
			t.Errorf("%q: net/url finds %q, no reading does", query, name)
		}
		if len(read[name]) == 0 && !absent {
			t.Errorf("%q: net/url finds no %q, yet no reading is without", query, name)
		}
		for _, found := range append(read[name], strings.Join(read[name], ",")) {
			if len(read[name]) > 0 && found == value && !exact {
				t.Errorf("%q: net/url reads %q as %q, no reading does", query, name, found)
			}
		}
		checkSeenQuery(t, query, name, read[name])
	})
}
