// Copyright The Penstock Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/penstock-dev/penstock/internal/jwks"
	"github.com/penstock-dev/penstock/internal/proxy"
	"github.com/penstock-dev/penstock/internal/ruleset"
	"github.com/penstock-dev/penstock/internal/store"
)

func TestEnforcementSwapsBeforeItReturns(t *testing.T) {
	t.Parallel()
	var set []*proxy.Rules
	e := &enforcement{keys: jwks.New(jwks.Options{}), setRules: func(rules *proxy.Rules) { set = append(set, rules) }}
	update := store.Update{Sequence: 1, Revision: "r1", RuleSet: limited(3), LivePods: map[string]int64{store.PolicyKey(policyKind, "web"): 4}}
	if err := e.apply(update); err != nil {
		t.Fatal(err)
	}
	if len(set) != 1 || set[0].Revision != "r1" || set[0].Namespace != namespace {
		t.Fatalf("rules set %+v, want those of r1", set)
	}
	want := map[proxy.PolicyID]int64{{Kind: policyKind, Name: "web"}: 4}
	if diff := cmp.Diff(want, set[0].LivePods); diff != "" {
		t.Errorf("live pods (-want +got):\n%s", diff)
	}
}

func TestEnforcementKeepsTheRulesWhenNewOnesDoNotCompile(t *testing.T) {
	t.Parallel()
	var set []string
	e := &enforcement{keys: jwks.New(jwks.Options{}), setRules: func(rules *proxy.Rules) { set = append(set, rules.Revision) }}
	if err := e.apply(store.Update{Revision: "r1", RuleSet: limited(3)}); err != nil {
		t.Fatal(err)
	}
	bad := limited(3)
	bad.Policies[0].Rules[0].Matches = []ruleset.Match{{Path: &ruleset.PathMatch{Type: "Unheard", Value: "/"}}}
	if err := e.apply(store.Update{Revision: "r2", RuleSet: bad}); err == nil {
		t.Error("rules that do not compile were taken")
	}
	// Other labels go with the rules that are in force, not with those refused.
	if err := e.relabel(map[string]string{"app": "web"}); err != nil {
		t.Fatal(err)
	}
	if err := e.relabel(map[string]string{"app": "web"}); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"r1", "r1"}, set); diff != "" {
		t.Errorf("revisions set (-want +got):\n%s", diff)
	}
}
