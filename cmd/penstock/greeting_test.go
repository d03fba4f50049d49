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

func TestTheGreetingSaysWhatIsMatched(t *testing.T) {
	t.Parallel()
	for want, match := range map[string]ruleset.Match{
		", on POST /login and below": {Methods: []string{"POST"}, Path: &ruleset.PathMatch{Type: ruleset.PathPrefix, Value: "/login"}},
		", on /a at *.example.com":   {Path: &ruleset.PathMatch{Type: ruleset.PathExact, Value: "/a"}, Hosts: []string{"*.example.com"}},
		", on any path with header x-env = dev with parameter debug absent": {
			Headers:     []ruleset.ValueMatch{{Name: "x-env", Type: ruleset.ValueExact, Value: "dev"}},
			QueryParams: []ruleset.ValueMatch{{Name: "debug", Type: ruleset.ValueAbsent}},
		},
	} {
		if got := matchText([]ruleset.Match{match}); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}
