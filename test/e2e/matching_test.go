//go:build e2e

// Copyright The Penstock Authors.
// SPDX-License-Identifier: Apache-2.0

package e2e

import "testing"

// testMatching sends requests that meet a rule and such that nearly do.
func (c *cluster) testMatching(t *testing.T) {
	header := func(path string, pairs ...string) ask {
		a := ask{path: path, header: map[string]string{}}
		for i := 0; i < len(pairs); i += 2 {
			a.header[pairs[i]] = pairs[i+1]
		}
		return a
	}
	to := func(method, path string) ask { return ask{method: method, path: path} }
	on := func(host string) ask { return ask{path: "/matching/host", host: host} }
	for name, steps := range map[string][]step{
		"host": {
			{on("example.com"), 200}, {on("example.com"), 200}, {on("a.example.org"), 200}, {on("a.example.org"), 200},
			{on("a.example.com"), 200}, {on("B.Example.com:80"), 429},
		},
		"spellings of a path": {
			{to("GET", "/matching/exact/more"), 200}, {to("GET", "/matching/exact"), 200}, {to("GET", "/matching/exact"), 429},
			{to("GET", "//Matching/./%65xact/"), 429}, {to("GET", "/other/../matching/exact"), 429}, {to("GET", "/matching/exact/more"), 200},
		},
		"template": {
			{to("GET", "/matching/users/7/export"), 200}, {to("GET", "/matching/users/7/export"), 429}, {to("GET", "/matching/users/8/export"), 200},
			{to("GET", "/matching/users/7/8/export"), 200}, {to("GET", "/matching/users/7"), 200}, {to("GET", "/matching/users/8/export?x=1"), 429},
		},
		"regular expression": {
			{to("GET", "/matching/reports/2026.csv"), 200}, {to("GET", "/matching/reports/7.pdf"), 429},
			{to("GET", "/matching/reports/x.pdf"), 200}, {to("GET", "/matching/reports/7.pdf.gz"), 200},
		},
		"method": {
			{to("GET", "/matching/method"), 200}, {to("GET", "/matching/method"), 200}, {to("POST", "/matching/method"), 200},
			{to("PUT", "/matching/method"), 429}, {to("DELETE", "/matching/method"), 200},
		},
		"header": {
			{header("/matching/header"), 200}, {header("/matching/header", "X-Env", "test"), 200},
			{header("/matching/header", "x-env", "prod"), 200}, {header("/matching/header", "X-Env", "prod"), 429},
			{header("/matching/header", "X-Env", "prod", "X-Skip", "1"), 200},
		},
		"query": {
			{to("GET", "/matching/query"), 200}, {to("GET", "/matching/query?debug=false"), 200},
			{to("GET", "/matching/query?debug=true"), 200}, {to("GET", "/matching/query?a=1&debug=%74rue"), 429},
		},
		"when": {
			{header("/matching/when"), 200}, {header("/matching/when?n=7", "X-Test", "1"), 200},
			{header("/matching/when", "X-Test", "1"), 200}, {header("/matching/when?n=8", "X-Test", "1"), 429}, {header("/matching/when?n=7", "X-Test", "1"), 200},
		},
		"tiers": {
			{header("/matching/tiers"), 429}, {header("/matching/tiers", "X-Customer", "ada"), 200}, {header("/matching/tiers", "X-Customer", "ada"), 429},
			{header("/matching/tiers", "X-Customer", "eve", "X-Plan", "pro"), 200}, {header("/matching/tiers", "X-Customer", "eve", "X-Plan", "pro"), 200},
			{header("/matching/tiers", "X-Customer", "eve", "X-Plan", "pro"), 200}, {header("/matching/tiers", "X-Customer", "eve", "X-Plan", "pro"), 429},
			{header("/matching/tiers", "X-Customer", "ada", "X-Plan", "enterprise"), 200}, {header("/matching/tiers", "X-Customer", "ada", "X-Plan", "enterprise"), 200},
		},
		"first match": {
			{to("GET", "/first/other"), 200}, {to("GET", "/first/special"), 200}, {to("GET", "/first/special/a"), 200},
			{to("GET", "/first/special"), 429}, {to("GET", "/first"), 429},
		},
	} {
		t.Run(name, func(t *testing.T) { c.wantAnswers(t, steps) })
	}
}
