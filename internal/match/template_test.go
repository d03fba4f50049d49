// Copyright The Penstock Authors.
// SPDX-License-Identifier: Apache-2.0

package match

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/penstock-dev/penstock/internal/ruleset"
)

func TestHowARuleWasMet(t *testing.T) {
	t.Parallel()
	onPaths := func(paths ...ruleset.PathMatch) []ruleset.Match {
		var matches []ruleset.Match
		for i := range paths {
			matches = append(matches, ruleset.Match{Path: &paths[i]})
		}
		return matches
	}
	users := ruleset.PathMatch{Type: ruleset.PathTemplate, Value: "/users/{id}/orders/{order}"}
	admin := ruleset.PathMatch{Type: ruleset.PathPrefix, Value: "/admin"}
	tests := map[string]struct {
		matches []ruleset.Match
		target  string
		want    met
		wantNot bool
	}{
		"a template":                      {matches: onPaths(users), target: "/users/7/orders/x", want: met{path: "/users/7/orders/x", params: []PathParam{{"id", "7"}, {"order", "x"}}}},
		"values are canonical":            {matches: onPaths(users), target: "/Users/%41%20b/orders/X;v=1", want: met{path: "/users/a%20b/orders/x", params: []PathParam{{"id", "a%20b"}, {"order", "x"}}}},
		"another alternative":             {matches: onPaths(users, admin), target: "/admin/x", want: met{path: "/admin/x"}},
		"not the first reading":           {matches: onPaths(admin), target: "/admin/%2e%2e/users", want: met{path: "/admin/../users"}},
		"the first reading that fits":     {matches: onPaths(users), target: "/users/7/x/../orders/8", want: met{path: "/users/7/orders/8", params: []PathParam{{"id", "7"}, {"order", "8"}}}},
		"no matches, the first reading":   {target: "/a/../b", want: met{path: "/b"}},
		"an empty segment is no value":    {matches: onPaths(users), target: "/users//orders/x", wantNot: true},
		"fewer segments":                  {matches: onPaths(users), target: "/users/7/orders", wantNot: true},
		"more segments":                   {matches: onPaths(users), target: "/users/7/orders/8/9", wantNot: true},
		"an alternative without any path": {matches: append(onPaths(users), ruleset.Match{Methods: []string{"GET"}}), target: "/x", want: met{path: "/x"}},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			m := mustCompile(t, rulesWith(ruleset.Rule{Name: "a", Matches: tc.matches}), nil)
			read, err := readPath(tc.target, ruleset.PathLoose)
			if err != nil {
				t.Fatal(err)
			}
			got, meets := m.policies[0].rules[0].meets(&request{view: get(tc.target)}, read.all())
			if meets == tc.wantNot {
				t.Errorf("%s meets the rule: %t", tc.target, meets)
			}
			if diff := cmp.Diff(tc.want, got, cmp.AllowUnexported(met{})); diff != "" {
				t.Errorf("how %s met the rule (-want +got):\n%s", tc.target, diff)
			}
		})
	}
}

func TestTemplatesThatAreRefused(t *testing.T) {
	t.Parallel()
	for template, want := range map[string]string{
		"/users/{id}/{id}": "twice", "/users/x{id}": "neither literal", "/users/{}": "neither literal", "/users/{id": "neither literal",
	} {
		rule := ruleset.Rule{Name: "a", Matches: []ruleset.Match{{Path: &ruleset.PathMatch{Type: ruleset.PathTemplate, Value: template}}}}
		if _, err := Compile(rulesWith(rule), nil, Options{}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("template %q: %v, want an error with %q", template, err, want)
		}
	}
}
