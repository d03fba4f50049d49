//go:build e2e

// Copyright The Penstock Authors.
// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"net/http"
	"testing"
)

// testIdentity counts clients by what a proxy says of them, and exempts some.
func (c *cluster) testIdentity(t *testing.T) {
	// The rules believe the second entry from the right; others are the proxies' and the client's own.
	from := func(path, forwardedFor string) ask {
		return ask{path: path, header: map[string]string{"X-Forwarded-For": forwardedFor}}
	}
	with := func(token string) ask {
		return ask{path: "/identity/believed", header: map[string]string{"X-Forwarded-For": "192.0.2.60, 10.0.0.1", "X-Internal-Token": token}}
	}
	const believed, doubted = "/identity/believed", "/identity/doubted"
	for name, steps := range map[string][]step{
		"the entry of the outermost trusted proxy": {
			{from(believed, "203.0.113.1, 192.0.2.1, 10.0.0.1"), 200}, {from(believed, "203.0.113.2, 192.0.2.1, 10.0.0.2"), 200},
			{from(believed, "203.0.113.3, 192.0.2.1, 10.0.0.3"), 429}, {from(believed, "192.0.2.2, 10.0.0.1"), 200},
		},
		"too few entries are the peer": {
			{from(believed, "192.0.2.10"), 200}, {from(believed, "192.0.2.11"), 200}, {ask{path: believed}, 429},
		},
		"exempt addresses": each(200, repeat(4, from(believed, "198.51.100.7, 10.0.0.1"))...),
		"exempt paths":     each(200, repeat(4, from(believed+"/health", "192.0.2.50, 10.0.0.1"))...),
		"exempt by a secret": append(each(200, repeat(4, with("open-sesame"))...),
			step{with("guess"), 200}, step{with("guess"), 200}, step{with("guess"), 429}, step{with("open-sesame"), 200}),
		// What a stranger says is not believed: neither another address nor an exempt one.
		"a stranger": {
			{from(doubted, "192.0.2.20"), 200}, {from(doubted, "192.0.2.21"), 200},
			{from(doubted, "192.0.2.22"), http.StatusTooManyRequests}, {from(doubted, "198.51.100.7"), http.StatusTooManyRequests},
		},
	} {
		t.Run(name, func(t *testing.T) { c.wantAnswers(t, steps) })
	}
	if exempt := totalOf(c.metric(t, "api", "penstock_decisions_total", `outcome="exempt"`, `policy="believed"`)); exempt != 13 {
		t.Errorf("the sidecars counted %v exempt requests, want 13", exempt)
	}
}
