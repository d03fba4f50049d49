// Copyright The Penstock Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"
	"go.yaml.in/yaml/v3"
)

// TestFaultsAreMendedOrLeftOut fills an object from values of other types.
func TestFaultsAreMendedOrLeftOut(t *testing.T) {
	t.Parallel()
	type inner struct {
		Name   string `json:"name"`
		Deeper []struct {
			A string `json:"a"`
		} `json:"deeper,omitempty"`
	}
	type object struct {
		Text     string            `json:"text,omitempty"`
		Whole    int32             `json:"whole,omitempty"`
		Flag     *bool             `json:"flag,omitempty"`
		Texts    []string          `json:"texts,omitempty"`
		Only     *inner            `json:"only,omitempty"`
		Several  []inner           `json:"several,omitempty"`
		ByName   map[string]string `json:"byName,omitempty"`
		Whole64s []int64           `json:"whole64s,omitempty"`
	}
	yes := true
	tests := map[string]struct {
		text  string
		want  object
		fault string
	}{
		"number for a text":        {"text: 007", object{Text: "007"}, `1: text: is a number, but must be a text: write "007" in quotes`},
		"flag for a text":          {"text: true", object{Text: "true"}, `1: text: is true, but must be a text: write "true" in quotes`},
		"time for a text":          {"text: 2026-01-02", object{Text: "2026-01-02"}, ""},
		"list for a text":          {"text: [a]", object{Text: "a"}, "1: text: is a list, but must be a text: write a, without hyphen and brackets"},
		"lists for a text":         {"text: [a, b]", object{}, "1: text: is a list, but must be a text"},
		"nothing":                  {"text:", object{}, ""},
		"text for a number":        {`whole: "12"`, object{Whole: 12}, "1: whole: is a text, but must be a whole number: write 12, without quotes"},
		"word for a number":        {"whole: 10k", object{}, "1: whole: is a text, but must be a whole number: write one in digits, such as 10"},
		"flag for a number":        {"whole: false", object{}, "1: whole: is false, but must be a whole number"},
		"exponent":                 {"whole: 1e3", object{Whole: 1000}, ""},
		"hexadecimal":              {"whole: 0x10", object{Whole: 16}, ""},
		"too large":                {"whole: 2147483648", object{}, "1: whole: is the number 2147483648, which is too large: write at most 2147483647"},
		"far too large":            {"whole64s: [9007199254740993, 99999999999999999999]", object{Whole64s: []int64{9007199254740993, 0}}, "1: whole64s[1]: is the number 99999999999999999999, which is too large: write at most 9223372036854775807"},
		"just too large":           {"whole64s: [9223372036854775808]", object{Whole64s: []int64{0}}, "1: whole64s[0]: is the number 9223372036854775808, which is too large: write at most 9223372036854775807"},
		"infinite":                 {"whole: .inf", object{}, "1: whole: is the number .inf, but must be a whole number: write one without a fraction"},
		"text for a flag":          {"flag: yes", object{Flag: &yes}, "1: flag: is a text, but must be true or false: write true, without quotes"},
		"word for a flag":          {"flag: maybe", object{}, "1: flag: is a text, but must be true or false"},
		"one for a list":           {"texts: a", object{Texts: []string{"a"}}, "1: texts: is a text, but must be a list: write [a]"},
		"object for a list":        {"several: {name: a}", object{Several: []inner{{Name: "a"}}}, "1: several: is an object, but must be a list: write a hyphen before its first field"},
		"number for a list":        {"texts: 7", object{Texts: []string{"7"}}, `1: texts: is a number, but must be a list of texts: write ["7"]`},
		"object for texts":         {"texts: {name: a}", object{}, "1: texts: is an object, but must be a list"},
		"list for an object":       {"only:\n- name: a", object{Only: &inner{Name: "a"}}, "1: only: is a list, but must be an object: remove the hyphen or the brackets"},
		"lists for an object":      {"only: [{name: a}, {name: b}]", object{}, "1: only: is a list, but must be an object"},
		"entries keep their place": {"several: [a, {name: b}]", object{Several: []inner{{}, {Name: "b"}}}, "1: several[0]: is a text, but must be an object"},
		"value of a map":           {"byName: {a: 1}", object{ByName: map[string]string{"a": "1"}}, `1: byName.a: is a number, but must be a text: write "1" in quotes`},
		"near field":               {"txet: a", object{Text: "a"}, "1: txet: there is no such field: did you mean text?"},
		"near field that is there": {"text: a\ntxet: b", object{Text: "a"}, "2: txet: there is no such field: correct its name or place, or remove it; here there may be text, whole, flag, texts, only, several, byName, whole64s"},
		"field of one other":       {"only: {a: 1}", object{Only: &inner{}}, "1: only.a: there is no such field: it belongs in deeper"},
		"field of several":         {"name: a", object{}, "1: name: there is no such field: correct its name or place, or remove it; here there may be text, whole, flag, texts, only, several, byName, whole64s"},
		"twice":                    {"text: a\ntext: b", object{Text: "a"}, "2: text: is there twice: remove one"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var node yaml.Node
			if err := yaml.Unmarshal([]byte(tc.text), &node); err != nil {
				t.Fatal(err)
			}
			s, got := newShape(0), object{}
			if err := s.fill(node.Content[0], &got); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("object differs (-want +got):\n%s", diff)
			}
			fault := ""
			if err := errors.Join(s.faults...); err != nil {
				fault = err.Error()
			}
			if diff := cmp.Diff(tc.fault, fault); diff != "" {
				t.Errorf("fault differs (-want +got):\n%s", diff)
			}
		})
	}
}
