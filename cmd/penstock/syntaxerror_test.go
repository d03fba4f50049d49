// Copyright The Penstock Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"errors"
	"strings"
	"testing"
)

// TestErrorsOfYAML have policyHead, of three lines, before the text.
func TestErrorsOfYAML(t *testing.T) {
	t.Parallel()
	const tab = "a tab is in the indentation"
	tests := map[string]struct {
		text string
		line string
		want string
	}{
		"tab":                    {"spec:\n\tselector: {}\n", "5", tab},
		"tab after spaces":       {"spec:\n  rules:\n  - name: a\n  \tlimits: []\n", "7", tab},
		"tab for a deeper field": {"spec:\n  rules:\n  - name: a\n\tlimits: []\n", "7", tab},
		"less indented":          {"spec:\n  rules:\n  - name: a\n   limits: []\n", "7", "did not find expected key: indent the fields of an object alike"},
		"more indented":          {"spec:\n  mode: Enforce\n    selector: {}\n", "6", "indent the fields of an object alike"},
		"after comments":         {"spec:\n    selector: {}\n\n# why\n  rules: []\n", "8", "indent the fields of an object alike"},
		"no list":                {"spec:\n  rules:\n  - name: a\n  limits: []\n  - name: b\n", "8", "indent the fields of an object alike"},
		"no colon":               {"spec:\n  selector: {}\n  mode\n", "6", "write name: value, with a colon and a space"},
		"colon in a value":       {"spec:\n  mode: a: b\n  rules: []\n", "5", "put a value with a colon in quotes"},
		"text after quotes":      {"spec:\n  mode: \"Enforce\" x\n  rules: []\n", "5", "close quotes only at the end of a value"},
		"bracket":                {"spec: {rules: [}\n", "4", "write a value"},
		"open bracket":           {"spec:\n  rules:\n  - name: a\n    methods: [GET,\n      POST\n    limits: []\n", "9", "write a comma or the closing bracket, here or in a line before; the bracket is opened in line 7"},
		"open to the end":        {"spec:\n  methods: [GET\n\n", "5", "write a comma or the closing bracket"},
		"open quotes":            {"spec:\n  mode: \"Enforce\n  rules: []\n", "5", "close the quote that is opened here"},
		"anchor":                 {"spec:\n  mode: *x\n", "5", "put a value that begins with * in quotes"},
		"asterisk":               {"spec:\n  mode: *\n", "5", "put a value that begins with * or & in quotes"},
		"at":                     {"spec:\n  mode: @x\n", "5", "put the value in quotes"},
		"backslash":              {"spec:\n  mode: \"\\d+\"\n", "5", "put a value with backslashes in single quotes"},
		"control character":      {"spec:\n  mode: \x01\n", "5", "remove the character that cannot be seen"},
		"Latin-1":                {"spec:\n  mode: \xe4\n", "5", "save the file as UTF-8"},
		"template":               {"spec:\n  {{- if x }}\n  mode: a\n  {{- end }}\n", "5", "this is a template: render it"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, problems := parse("a.yaml", []byte(policyHead+tc.text))
			if err := errors.Join(problems...); err == nil || !strings.HasPrefix(err.Error(), "a.yaml:"+tc.line+": not YAML: ") || !strings.Contains(err.Error(), tc.want) {
				t.Errorf("error %v, want line %s and %q", err, tc.line, tc.want)
			}
			// After a document before it the lines still count from the beginning of the file, and
			// what is after it is read.
			text := "%YAML 1.1\n---\na: 1\n---\n" + policyHead + tc.text + "--- [\n---\nb: 1\n"
			documents, _ := parse("a.yaml", []byte(text))
			if len(documents) != 2 || documents[0].shape.lineOf("a") != 3 || documents[1].shape.lineOf("b") != strings.Count(text, "\n") {
				t.Errorf("read %+v, want the first and the last document", documents)
			}
		})
	}
}

func TestErrorsOfYAMLOnTheFirstLine(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"\tkind: a\n": "a.yaml:1: not YAML: ", "a: b: c\n": "a.yaml:1: not YAML: ", "{a: [}": "a.yaml:1: not YAML: ", "kind: *x": "a.yaml:1: not YAML: ",
		"%YAML 1.2\n---\na: 1\n":        "a.yaml:1: not YAML: found incompatible YAML document: remove the line with %YAML",
		"a: 1\n...\nb: [\n":             "a.yaml:3: not YAML: ",
		"a: 1\n---\nb: [}\n":            "a.yaml:3: not YAML: ",
		"a: |\n  ---\n  text\nb: [}\n":  "a.yaml:4: not YAML: ",
		strings.Repeat("---\n", 10_001): "a.yaml:10001: the file has more than 10000 documents",
	} {
		_, problems := parse("a.yaml", []byte(text))
		if err := errors.Join(problems...); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%.40q: error %.2000v, want %q", text, err, want)
		}
	}
}
