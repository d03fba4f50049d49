// Copyright The Penstock Authors.
// SPDX-License-Identifier: Apache-2.0

package match

import (
	"strings"
	"testing"

	"github.com/penstock-dev/penstock/internal/ruleset"
)

func TestCostOfARequest(t *testing.T) {
	t.Parallel()
	fixed := func(value int64) *ruleset.Cost {
		return &ruleset.Cost{Request: ruleset.RequestCost{Source: ruleset.CostValue, Value: value}}
	}
	header := &ruleset.Cost{Request: ruleset.RequestCost{Source: ruleset.CostHeader, Name: "x-items", Max: 100}}
	query := &ruleset.Cost{Request: ruleset.RequestCost{Source: ruleset.CostQueryParam, Name: "page size", Max: 100}}
	tests := map[string]struct {
		cost   *ruleset.Cost
		values []string
		query  string
		want   int64
	}{
		"none":                 {want: 1},
		"fixed":                {cost: fixed(7), want: 7},
		"a look":               {cost: fixed(0), want: 0},
		"header":               {cost: header, values: []string{"12"}, want: 12},
		"no header":            {cost: header, want: 1},
		"empty":                {cost: header, values: []string{""}, want: 1},
		"nobody is free":       {cost: header, values: []string{"0"}, want: 1},
		"negative":             {cost: header, values: []string{"-5"}, want: 1},
		"with a sign":          {cost: header, values: []string{"+5"}, want: 1},
		"fraction":             {cost: header, values: []string{"5.0"}, want: 1},
		"hexadecimal":          {cost: header, values: []string{"0x20"}, want: 1},
		"other digits":         {cost: header, values: []string{"٣"}, want: 1},
		"leading zeros":        {cost: header, values: []string{"0000000000000000000000012"}, want: 12},
		"white space":          {cost: header, values: []string{" 12\t"}, want: 12},
		"a list in one line":   {cost: header, values: []string{"12, 13"}, want: 1},
		"over max":             {cost: header, values: []string{"101"}, want: 100},
		"over all numbers":     {cost: header, values: []string{strings.Repeat("9", 4000)}, want: 100},
		"the largest of all":   {cost: header, values: []string{"3", "many", "12", "5"}, want: 12},
		"query":                {cost: query, query: "page%20size=12", want: 12},
		"query with a plus":    {cost: query, query: "a=b&page+size=12&c", want: 12},
		"value with escapes":   {cost: query, query: "page+size=%31%32", want: 12},
		"no query":             {cost: query, want: 1},
		"another parameter":    {cost: query, query: "page=9&Page+Size=9&page+size2=9", want: 1},
		"malformed escape":     {cost: query, query: "page+size=12&page+size=%zz", want: 12},
		"semicolons":           {cost: query, query: "a=b;page+size=12;c=d", want: 12},
		"semicolons at an end": {cost: query, query: "a&b;page+size=12", want: 12},
		"semicolons in front":  {cost: query, query: "page+size=12;b&a", want: 12},
		"largest of the query": {cost: query, query: "page+size=2&page+size=12&page+size=3", want: 12},
		"no value":             {cost: query, query: "page+size", want: 1},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			m := mustCompile(t, rulesWith(ruleset.Rule{Name: "all", Cost: tc.cost}), nil)
			view := get("/a?" + tc.query)
			view.headers = map[string][]string{"x-items": tc.values}
			result, err := m.Match(view)
			if err != nil {
				t.Fatal(err)
			}
			if got := result.Hits[0].Cost; got != tc.want {
				t.Errorf("the request costs %d, want %d", got, tc.want)
			}
		})
	}
}

func TestCostThatIsNotKnownIsRefused(t *testing.T) {
	t.Parallel()
	for name, cost := range map[string]ruleset.RequestCost{
		"source": {Source: "Weather"}, "max": {Source: ruleset.CostHeader, Name: "x-items"},
	} {
		if _, err := Compile(rulesWith(ruleset.Rule{Name: "all", Cost: &ruleset.Cost{Request: cost}}), nil, Options{}); err == nil || !strings.Contains(err.Error(), name) {
			t.Errorf("error %v, want one that names the %s", err, name)
		}
	}
}

func FuzzCostOfAQuery(f *testing.F) {
	f.Add("limit=5&limit=6;limit=7", "limit")
	f.Add("%6cimit=5&&;=;", "limit")
	f.Fuzz(func(t *testing.T, query, name string) {
		cost := &ruleset.Cost{Request: ruleset.RequestCost{Source: ruleset.CostQueryParam, Name: name, Max: 1 << 31}}
		if got := costOf(cost, get("/?"+query)); got < 1 || got > 1<<31 {
			t.Errorf("%q costs %d", query, got)
		}
	})
}
