// Copyright The Penstock Authors.
// SPDX-License-Identifier: Apache-2.0

package match

import (
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/penstock-dev/penstock/internal/ruleset"
)

func TestShadowsRefuseNoRequestAsItIs(t *testing.T) {
	t.Parallel()
	byKey := []ruleset.KeyPart{{Name: "k", From: []ruleset.KeySource{{Kind: ruleset.SourceHeader, Name: "x-key"}}, OnMissing: ruleset.MissingDeny}}
	onA := []ruleset.Match{{Path: &ruleset.PathMatch{Type: ruleset.PathExact, Value: "/a"}}}
	m := mustCompile(t, rulesWith(
		ruleset.Rule{Name: "all"},
		ruleset.Rule{Name: "keyed", Key: byKey, Shadow: true, Limits: []ruleset.Limit{{Name: "l"}}},
		ruleset.Rule{Name: "on-a", Matches: onA, Shadow: true},
	), nil)
	result, err := m.Match(get("/%00"))
	if err != nil {
		t.Fatalf("a shadow refused a path: %v", err)
	}
	var denied []string
	for _, d := range result.ShadowDenied {
		denied = append(denied, d.Rule.Name)
	}
	if diff := cmp.Diff([]string{"keyed"}, denied); diff != "" || result.Denied != nil {
		t.Errorf("refused by %v, and by shadows (-want +got):\n%s", result.Denied, diff)
	}
	if got := hitNames(result); got != "all" {
		t.Errorf("counted by %q, want all", got)
	}
}

func TestShadowsDoNotMakeASpellingRefused(t *testing.T) {
	t.Parallel()
	rule := func(name, path string, limits int, shadow bool) ruleset.Rule {
		return ruleset.Rule{
			Name: name, Shadow: shadow, Limits: make([]ruleset.Limit, limits),
			Matches: []ruleset.Match{{Path: &ruleset.PathMatch{Type: ruleset.PathExact, Value: path}}},
		}
	}
	m := mustCompile(t, rulesWith(
		rule("first", "/a/b", 8, true), rule("real", "/a%2Fb", 20, false), rule("last", "/a/b", 8, true),
	), nil)
	result, err := m.Match(get("/a%2Fb"))
	if err != nil {
		t.Fatal(err)
	}
	if got := hitNames(result); got != "first real" {
		t.Errorf("counted by %q, want the last shadow left out", got)
	}
	tooMany := mustCompile(t, rulesWith(rule("one", "/a/b", 20, false), rule("two", "/a%2Fb", 20, false)), nil)
	if _, err := tooMany.Match(get("/a%2Fb")); !errors.Is(err, ErrBadPath) {
		t.Errorf("error %v, want ErrBadPath: both rules may refuse", err)
	}
}
