// Copyright The Penstock Authors.
// SPDX-License-Identifier: Apache-2.0

package match

import (
	"errors"
	"testing"

	"github.com/penstock-dev/penstock/internal/ruleset"
)

func TestOriginForm(t *testing.T) {
	t.Parallel()
	for target, want := range map[string]string{
		"/": "/", "/a?b": "/a?b", "//a": "//a", "*": "*", "http://h/a?b": "/a?b", "HTTPS://h//a": "//a", "http://h": "/", "http://h?a/b": "/?a/b",
		"": "", "a": "", "http:/login": "", "http:///login": "", "http:login": "", "ftp://h/a": "", "h:80": "", "http://": "", "http://?a": "",
	} {
		got, ok := OriginForm(target)
		if got != want || ok != (want != "") {
			t.Errorf("OriginForm(%q) = %q, %v, want %q", target, got, ok, want)
		}
	}
}

func TestTargetOfNoFormIsRefused(t *testing.T) {
	t.Parallel()
	m := mustCompile(t, rulesWith(ruleset.Rule{Name: "a", Matches: []ruleset.Match{{Path: &ruleset.PathMatch{Type: ruleset.PathExact, Value: "/login"}}}}), nil)
	if _, err := m.Match(get("http:/login")); !errors.Is(err, ErrBadPath) {
		t.Errorf("Match = %v, want ErrBadPath", err)
	}
}
