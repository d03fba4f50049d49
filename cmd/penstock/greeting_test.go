// Copyright The Penstock Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"testing"

	"github.com/penstock-dev/penstock/internal/ruleset"
)

// TestTheExampleMeetsTheRule shows a command that a person can paste to see it.
func TestTheExampleMeetsTheRule(t *testing.T) {
	t.Parallel()
	header := []ruleset.KeyPart{{Name: "client", From: []ruleset.KeySource{{Kind: ruleset.SourceHeader, Name: "x-api-key"}}}}
	login := []ruleset.Match{{Path: &ruleset.PathMatch{Type: ruleset.PathExact, Value: "/login"}, Methods: []string{"POST"}}}
	for want, rules := range map[string][]ruleset.Rule{
		"curl -i http://h/":                    {{}},
		"curl -i -X POST http://h/login":       {{Matches: login}},
		"curl -i -H 'X-Api-Key: me' http://h/": {{Key: header}, {Matches: login}},
		"curl -i http://h/a":                   {{Matches: []ruleset.Match{{Path: &ruleset.PathMatch{Value: "/a"}, Methods: []string{"PUT", "GET"}}}}},
	} {
		if got := example("http://h", &ruleset.RuleSet{Policies: []ruleset.Policy{{Rules: rules}}}); got != want {
			t.Errorf("got %s, want %s", got, want)
		}
	}
	if got := example("http://h", &ruleset.RuleSet{}); got != "curl -i http://h/" {
		t.Errorf("without rules: %s", got)
	}
}
