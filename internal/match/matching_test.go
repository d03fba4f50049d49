// Copyright The Penstock Authors.
// SPDX-License-Identifier: Apache-2.0

package match

import (
	"errors"
	"os"
	"strings"
	"testing"

	"github.com/penstock-dev/penstock/internal/ruleset"
)

// fewestCases is how many cases the table must have.
const fewestCases = 110

// TestMatchingTable reads testdata/matching.txt, which says what it holds.
func TestMatchingTable(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("testdata/matching.txt")
	if err != nil {
		t.Fatal(err)
	}
	var matcher *Matcher
	rule, count := "", 0
	for line := range strings.SplitSeq(string(text), "\n") {
		word, rest, _ := strings.Cut(line, " ")
		switch {
		case line == "" || word == "#":
		case word == "rule":
			rule, matcher = line, mustCompile(t, ruleWritten(t, rest), nil)
		default:
			count++
			asked := matcher
			t.Run(rule+"/"+line, func(t *testing.T) {
				t.Parallel()
				view := viewWritten(t, strings.TrimSpace(rest))
				if got := outcome(t, asked, view); got != word {
					t.Errorf("the request is %q, want %q", got, word)
				}
			})
		}
	}
	t.Logf("matching: %d cases", count)
	if count < fewestCases {
		t.Errorf("%d cases, want at least %d", count, fewestCases)
	}
}

// outcome is the word of the table for a request.
func outcome(t *testing.T, m *Matcher, view *fakeView) string {
	t.Helper()
	result, err := m.Match(view)
	request := request{view: view}
	switch {
	case errors.Is(err, ErrBadPath):
		return "bad"
	case err != nil:
		t.Fatal(err)
	case len(result.Hits) == 0:
		return "not"
	}
	if err := m.readPaths(&request); err != nil {
		t.Fatal(err)
	}
	policy := &m.policies[0]
	paths := policy.pathsOf(&request)
	if how, _ := policy.rules[0].meets(&request, paths.all()); how.inDoubt {
		return "doubt"
	}
	return "met"
}

// ruleWritten is a rule set of one rule, from the words after "rule".
func ruleWritten(t *testing.T, words string) *ruleset.RuleSet {
	t.Helper()
	entry, matching := ruleset.Match{}, ruleset.PathLoose
	for word := range strings.FieldsSeq(words) {
		kind, value, _ := strings.Cut(word, "=")
		name, rest, _ := strings.Cut(value, ":")
		switch kind {
		case "strict":
			matching = ruleset.PathStrict
		case "path":
			entry.Path = &ruleset.PathMatch{Type: ruleset.PathMatchType(name), Value: rest}
		case "method":
			entry.Methods = append(entry.Methods, value)
		case "host":
			entry.Hosts = append(entry.Hosts, value)
		case "header":
			entry.Headers = append(entry.Headers, valueWritten(name, rest))
		case "query":
			entry.QueryParams = append(entry.QueryParams, valueWritten(name, rest))
		default:
			t.Fatalf("rule %q: the word %q is not known", words, kind)
		}
	}
	rule := ruleset.Rule{Name: "rule"}
	if words != "" {
		rule.Matches = []ruleset.Match{entry}
	}
	rs := rulesWith(rule)
	rs.Policies[0].PathMatching = matching
	return rs
}

func valueWritten(name, rest string) ruleset.ValueMatch {
	kind, value, _ := strings.Cut(rest, ":")
	return ruleset.ValueMatch{Name: name, Type: ruleset.ValueMatchType(kind), Value: value}
}

// viewWritten is a request, from "METHOD target | Name: value | ...".
func viewWritten(t *testing.T, line string) *fakeView {
	t.Helper()
	parts := strings.Split(line, " | ")
	method, target, ok := strings.Cut(parts[0], " ")
	if !ok {
		t.Fatalf("request %q has no target", line)
	}
	view := get(target)
	view.method, view.headers = method, make(map[string][]string)
	for _, field := range parts[1:] {
		name, value, _ := strings.Cut(field, ":")
		name, value = strings.ToLower(name), strings.TrimSpace(value)
		if name == "host" {
			view.host = value
			continue
		}
		view.headers[name] = append(view.headers[name], value)
	}
	return view
}
