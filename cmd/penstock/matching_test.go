// Copyright The Penstock Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"net/http"
	"testing"
)

// TestMatchesInForce sets what a rule can match, and looks at which requests are
// counted: each rule admits one request an hour.
func TestMatchesInForce(t *testing.T) {
	t.Parallel()
	type step struct {
		ask
		want int
	}
	env := func(value string) map[string]string { return map[string]string{"X-Env": value} }
	host := func(value string) map[string]string { return map[string]string{"Host": value} }
	tests := map[string]struct {
		match string
		steps []step
	}{
		"path Template": {"path: {type: Template, value: '/Users/{id}/orders'}", []step{
			{ask{path: "/users/1/orders"}, allowed}, {ask{path: "/users/1"}, allowed}, {ask{path: "/users/1/orders/2"}, allowed}, {ask{path: "/users/2/orders"}, refused},
		}},
		"path RegularExpression": {"path: {type: RegularExpression, value: '/files/.*[.]zip'}", []step{
			{ask{path: "/files/a.zip"}, allowed}, {ask{path: "/files/a.zip.txt"}, allowed}, {ask{path: "/FILES/b/c.ZIP"}, refused},
		}},
		"hosts": {"hosts: ['*.example.com', shop.test]", []step{
			{ask{header: host("a.b.example.com")}, allowed}, {ask{header: host("example.com")}, allowed}, {ask{header: host("SHOP.test.:80")}, refused},
		}},
		"headers Exact":                 {"headers: [{name: X-Env, value: prod}]", []step{{ask{header: env("prod")}, allowed}, {ask{header: env("test")}, allowed}, {ask{}, allowed}, {ask{header: env("prod")}, refused}}},
		"headers RegularExpression":     {"headers: [{name: X-Env, type: RegularExpression, value: 'p.*d'}]", []step{{ask{header: env("prod")}, allowed}, {ask{header: env("products")}, allowed}, {ask{header: env("pad")}, refused}}},
		"headers Present":               {"headers: [{name: x-env, type: Present}]", []step{{ask{header: env("prod")}, allowed}, {ask{}, allowed}, {ask{header: env("")}, refused}}},
		"headers Absent":                {"headers: [{name: X-Env, type: Absent}]", []step{{ask{}, allowed}, {ask{header: env("")}, allowed}, {ask{}, refused}}},
		"queryParams Exact":             {"queryParams: [{name: debug, value: '1'}]", []step{{ask{path: "/?debug=1"}, allowed}, {ask{path: "/?debug=2"}, allowed}, {ask{path: "/?a&%64ebug=%31"}, refused}}},
		"queryParams RegularExpression": {"queryParams: [{name: debug, type: RegularExpression, value: '[0-9]+'}]", []step{{ask{path: "/?debug=1"}, allowed}, {ask{path: "/?debug=1a"}, allowed}, {ask{path: "/?debug=23"}, refused}}},
		"queryParams Present":           {"queryParams: [{name: debug, type: Present}]", []step{{ask{path: "/?debug"}, allowed}, {ask{path: "/debug"}, allowed}, {ask{path: "/?a=b;debug=x"}, refused}}},
		"queryParams Absent":            {"queryParams: [{name: debug, type: Absent}]", []step{{ask{path: "/?a=debug"}, allowed}, {ask{path: "/?debug=1"}, allowed}, {ask{}, refused}}},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			server := startRun(t, "rules: [{name: some, matches: [{"+tc.match+"}], limits: [{name: hour, requests: 1, window: 1h}]}]", memoryStore)
			for i, step := range tc.steps {
				if got := server.send(step.ask).StatusCode; got != step.want {
					t.Errorf("request %d (%+v) was answered with %d, want %d", i+1, step.ask, got, step.want)
				}
			}
		})
	}
}

// TestFirstMatchInForce wants a request counted by the first rule that it meets and that
// applies, and by all that it meets if the app may read it as another.
func TestFirstMatchInForce(t *testing.T) {
	t.Parallel()
	const spec = `evaluation: FirstMatch
rules:
- {name: keyed, matches: [{path: {value: /api}}], key: [{name: k, onMissing: Skip, from: [{header: {name: X-Key}}]}], limits: [{name: hour, requests: 100, window: 1h}]}
- {name: api, matches: [{path: {value: /api}}], limits: [{name: hour, requests: 100, window: 1h}]}
- {name: preview, matches: [{queryParams: [{name: preview, value: '1'}]}], limits: [{name: hour, requests: 100, window: 1h}]}
- {name: all, limits: [{name: hour, requests: 100, window: 1h}]}`
	tests := map[string]struct {
		ask
		want map[string]float64
	}{
		"the first":                      {ask{path: "/api", header: map[string]string{"X-Key": "a"}}, map[string]float64{"keyed": 1}},
		"a key that is missing skips":    {ask{path: "/api?preview=1"}, map[string]float64{"api": 1}},
		"none before the last":           {ask{path: "/x"}, map[string]float64{"all": 1}},
		"a query parameter":              {ask{path: "/x?preview=1"}, map[string]float64{"preview": 1}},
		"a path in an odd spelling":      {ask{path: "/api/../x"}, map[string]float64{"api": 1, "all": 1}},
		"a parameter with two values":    {ask{path: "/x?preview=1&preview=2"}, map[string]float64{"preview": 1, "all": 1}},
		"a parameter that some may miss": {ask{path: "/x?a;preview=1"}, map[string]float64{"preview": 1, "all": 1}},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			server := startRun(t, spec, memoryStore)
			if got := server.send(tc.ask).StatusCode; got != http.StatusOK {
				t.Fatalf("the request was answered with %d", got)
			}
			for _, rule := range []string{"keyed", "api", "preview", "all"} {
				if got := server.decisions(rule, "allowed"); got != tc.want[rule] {
					t.Errorf("rule %s counted %v requests, want %v", rule, got, tc.want[rule])
				}
			}
		})
	}
}
