// Copyright The Penstock Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"crypto/sha256"
	"encoding/hex"
	"strings"
	"testing"
)

// asked is a request and the status of its answer.
type asked struct {
	ask
	want int
}

// with is a request with one header.
func with(name, value string) ask { return ask{header: map[string]string{name: value}} }

// expect sends requests one after the other.
func (r *running) expect(requests []asked) {
	r.t.Helper()
	for i, request := range requests {
		if got := r.send(request.ask).StatusCode; got != request.want {
			r.t.Errorf("request %d (%+v) was answered with %d, want %d", i+1, request.ask, got, request.want)
		}
	}
}

// TestKeysInForce counts by each kind of key source.
func TestKeysInForce(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		// from is the source, and matches those of the rule; empty is every request.
		from, matches string
		requests      []asked
	}{
		"key cookie": {from: "{cookie: {name: session}}", requests: []asked{
			{with("Cookie", "theme=dark; session=a"), allowed},
			{with("Cookie", "session=b"), allowed},
			{with("Cookie", `session="%61"; lang=en`), refused},
			{with("Cookie", "Session=a"), allowed},
			{ask{}, refused},
			{with("Cookie", "session=c; session=d"), allowed},
			{with("Cookie", "session=e; session=f"), refused},
		}},
		"key queryParam": {from: "{queryParam: {name: api_key}}", requests: []asked{
			{ask{path: "/x?api_key=a"}, allowed},
			{ask{path: "/y?p=1&api_key=b"}, allowed},
			{ask{path: "/z?api%5fkey=%61"}, refused},
			{ask{path: "/?api_key=c&api_key=d"}, allowed},
			{ask{path: "/?api_key=e;api_key=f"}, refused},
		}},
		"key pathParam": {from: "{pathParam: {name: userId}}", matches: "[{path: {type: Template, value: '/Users/{userId}'}}, {path: {type: Template, value: '/people/{userId}'}}]", requests: []asked{
			{ask{path: "/users/7"}, allowed},
			{ask{path: "/users/8"}, allowed},
			{ask{path: "/people/7"}, refused},
			{ask{path: "//users/%37/"}, refused},
		}},
		"key path": {from: "{path: {}}", requests: []asked{
			{ask{path: "/a"}, allowed},
			{ask{path: "/b"}, allowed},
			{ask{path: "//A/?x=1"}, refused},
			{ask{path: "/x/../a"}, refused},
		}},
		"key method": {from: "{method: {}}", requests: []asked{{ask{}, allowed}, {ask{method: "PUT"}, allowed}, {ask{}, refused}}},
		"key host": {from: "{host: {}}", requests: []asked{
			{with("Host", "a.example.com"), allowed},
			{with("Host", "b.example.com"), allowed},
			{with("Host", "A.Example.com.:80"), refused},
		}},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			rule := "name: all, key: [{name: part, from: [" + tc.from + "]}], limits: [{name: hour, requests: 1, window: 1h}]"
			if tc.matches != "" {
				rule += ", matches: " + tc.matches
			}
			startRun(t, "rules: [{"+rule+"}]", memoryStore).expect(tc.requests)
		})
	}
}

// TestClientIPInForce reads the client's address from headers of trusted peers.
func TestClientIPInForce(t *testing.T) {
	t.Parallel()
	const perClient = "\nrules: [{name: all, key: [{name: client, from: [{clientIP: {}}]}], limits: [{name: hour, requests: 1, window: 1h}]}]"
	forwarded := func(value string) ask { return with("X-Forwarded-For", value) }
	tests := map[string]struct {
		clientIP string
		requests []asked
	}{
		"source XForwardedFor": {"{source: XForwardedFor, trustedCIDRs: [127.0.0.0/8]}", []asked{
			{forwarded("192.0.2.1"), allowed},
			{forwarded("192.0.2.2"), allowed},
			{forwarded("198.51.100.1, 192.0.2.1"), refused},
			{forwarded("unknown"), allowed},
			{ask{}, refused},
		}},
		"source Header": {"{source: Header, headerName: CF-Connecting-IP, trustedCIDRs: [127.0.0.0/8]}", []asked{
			{with("CF-Connecting-IP", "192.0.2.1"), allowed},
			{with("CF-Connecting-IP", "192.0.2.2"), allowed},
			{with("cf-connecting-ip", "192.0.2.1:4711"), refused},
			{forwarded("192.0.2.3"), allowed},
			{forwarded("192.0.2.4"), refused},
		}},
		"trustedHops": {"{source: XForwardedFor, trustedHops: 2, trustedCIDRs: [127.0.0.0/8]}", []asked{
			{forwarded("192.0.2.1, 10.0.0.1"), allowed},
			{forwarded("192.0.2.2, 10.0.0.1"), allowed},
			{forwarded("198.51.100.1, 192.0.2.1, 10.0.0.2"), refused},
			{forwarded("192.0.2.3"), allowed},
			{ask{}, refused},
		}},
		"trustedCIDRs": {"{source: XForwardedFor, trustedCIDRs: [127.0.0.2/32]}", []asked{
			{ask{from: "127.0.0.2", header: map[string]string{"X-Forwarded-For": "192.0.2.1"}}, allowed},
			{ask{from: "127.0.0.2", header: map[string]string{"X-Forwarded-For": "192.0.2.2"}}, allowed},
			{ask{from: "127.0.0.3", header: map[string]string{"X-Forwarded-For": "192.0.2.3"}}, allowed},
			{ask{from: "127.0.0.3", header: map[string]string{"X-Forwarded-For": "192.0.2.4"}}, refused},
		}},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			startRun(t, "clientIP: "+tc.clientIP+perClient, memoryStore).expect(tc.requests)
		})
	}
}

// TestExemptionsInForce sends more than a limit allows, exempt and not.
func TestExemptionsInForce(t *testing.T) {
	t.Parallel()
	const rules = "\nrules: [{name: all, limits: [{name: hour, requests: 1, window: 1h}]}, {name: login, matches: [{path: {value: /login}}], limits: [{name: hour, requests: 1, window: 1h}]}]"
	hash := func(secret string) string {
		sum := sha256.Sum256([]byte(secret))
		return hex.EncodeToString(sum[:])
	}
	tests := map[string]struct {
		exempt string
		exempted,
		not ask
	}{
		"cidrs":                     {"{cidrs: [127.0.0.2/31]}", ask{from: "127.0.0.3"}, ask{from: "127.0.0.4"}},
		"paths PathPrefix":          {"{paths: [{value: /health}]}", ask{path: "/health/live?x"}, ask{path: "/healthy"}},
		"paths Exact":               {"{paths: [{type: Exact, value: /healthz}]}", ask{path: "/healthz"}, ask{path: "/healthz/x"}},
		"paths Template":            {"{paths: [{type: Template, value: '/{pod}/healthz'}]}", ask{path: "/a/healthz"}, ask{path: "/a/b/healthz"}},
		"paths RegularExpression":   {"{paths: [{type: RegularExpression, value: '/health(z|y)'}]}", ask{path: "/healthy"}, ask{path: "/healthx"}},
		"paths in another spelling": {"{paths: [{type: Exact, value: /healthz}]}", ask{path: "/healthz"}, ask{path: "//healthz"}},
		"headers":                   {"{headers: [{name: X-Internal-Token, sha256: " + hash("old") + "}, {name: X-Internal-Token, sha256: " + hash("new") + "}]}", with("X-Internal-Token", "new"), with("X-Internal-Token", "other")},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			server := startRun(t, "exempt: "+tc.exempt+rules, memoryStore)
			server.expect([]asked{{tc.not, allowed}, {tc.exempted, allowed}, {tc.exempted, allowed}, {tc.not, refused}})
			if got := server.decisions("all", "exempt"); got != 2 {
				t.Errorf("%v requests were counted as exempt, want 2", got)
			}
		})
	}
}

// TestABadPathOfAnExemptClientPasses says that an exemption lifts the rule that a path
// must be readable, and that an exempt path does not make it one.
func TestABadPathOfAnExemptClientPasses(t *testing.T) {
	t.Parallel()
	long := ask{path: strings.Repeat("/a", 9<<10) + "/../b"}
	const limits = "limits: [{name: hour, requests: 9, window: 1h}]}]"
	for exempt, want := range map[string]int{"{cidrs: [127.0.0.0/8]}": allowed, "{cidrs: [192.0.2.0/24]}": 400} {
		startRun(t, "exempt: "+exempt+"\nrules: [{name: login, matches: [{path: {value: /login}}], "+limits, memoryStore).expect([]asked{{long, want}})
	}
	startRun(t, "exempt: {paths: [{value: /a}]}\nrules: [{name: all, "+limits, memoryStore).expect([]asked{{long, allowed}})
}
