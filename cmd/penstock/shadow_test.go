// Copyright The Penstock Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"net/http"
	"testing"

	"github.com/redis/go-redis/v9"

	"github.com/penstock-dev/penstock/test/redistest"
)

// TestShadowsRefuseNothing has shadow rules meet all that makes others refuse.
func TestShadowsRefuseNothing(t *testing.T) {
	t.Parallel()
	const limit = "limits: [{name: hour, requests: 1, window: 1h}]"
	tests := map[string]struct {
		spec string
		// path is what is asked for three times.
		path string
		// wantAllowed and wantDenied are the outcomes of rule "all".
		wantAllowed, wantDenied float64
	}{
		"over the limit":                     {spec: "rules: [{name: all, mode: Shadow, " + limit + "}]", wantAllowed: 1, wantDenied: 2},
		"two limits, one refuses":            {spec: "rules: [{name: all, mode: Shadow, limits: [{name: hour, requests: 1, window: 1h}, {name: day, requests: 9, window: 24h}]}]", wantAllowed: 1, wantDenied: 2},
		"onMissing Deny":                     {spec: "rules: [{name: all, mode: Shadow, key: [{name: k, onMissing: Deny, from: [{header: {name: X-Key}}]}], " + limit + "}]", wantDenied: 3},
		"a path with a NUL":                  {spec: "rules: [{name: all, mode: Shadow, matches: [{path: {value: /a}}], " + limit + "}]", path: "/a%00"},
		"a disabled rule of a shadow policy": {spec: "mode: Shadow\nrules: [{name: all, mode: Disabled, " + limit + "}, {name: other, limits: [{name: hour, requests: 9, window: 1h}]}]"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			server := startRun(t, tc.spec, memoryStore)
			for range 3 {
				answer := server.send(ask{path: tc.path})
				if answer.StatusCode != allowed {
					t.Errorf("a shadow refused with %d", answer.StatusCode)
				}
				for _, field := range []string{"RateLimit", "RateLimit-Policy", "X-RateLimit-Limit", "Retry-After"} {
					if value := answer.Header.Get(field); value != "" {
						t.Errorf("the answer tells of a shadow: %s: %s", field, value)
					}
				}
			}
			if got := server.decisions("all", "allowed"); got != tc.wantAllowed {
				t.Errorf("%v requests counted as allowed, want %v", got, tc.wantAllowed)
			}
			if got := server.decisions("all", "shadow_denied"); got != tc.wantDenied {
				t.Errorf("%v requests counted as shadow_denied, want %v", got, tc.wantDenied)
			}
		})
	}
}

// TestAnEnforcedRuleStillLooksAtPaths is the other side of the case above.
func TestAnEnforcedRuleStillLooksAtPaths(t *testing.T) {
	t.Parallel()
	const match = "matches: [{path: {value: /a}}], limits: [{name: hour, requests: 1, window: 1h}]"
	server := startRun(t, "rules: [{name: all, mode: Shadow, "+match+"}, {name: real, "+match+"}]", memoryStore)
	if got := server.send(ask{path: "/a%00"}).StatusCode; got != http.StatusBadRequest {
		t.Errorf("a path with a NUL was answered with %d, want 400", got)
	}
}

// TestShadowsRefuseNothingWithoutAStore stops the store, and damages a counter.
func TestShadowsRefuseNothingWithoutAStore(t *testing.T) {
	t.Parallel()
	const rule = "rules: [{name: all, mode: Shadow, onStoreFailure: Deny, limits: [{name: hour, requests: 1, window: 1h, algorithm: FixedWindow}]}]"
	store := redistest.Start(t)
	server := startRun(t, rule, "redis://"+store.Addr())
	want := func(when string) {
		t.Helper()
		if got := server.send(ask{}).StatusCode; got != allowed {
			t.Errorf("%s a shadow refused with %d", when, got)
		}
	}
	want("at first")
	client := store.Client(t)
	for _, name := range client.Keys(t.Context(), "penstock:n:*").Val() {
		if err := client.Set(t.Context(), name, "no counter", redis.KeepTTL).Err(); err != nil {
			t.Fatal(err)
		}
	}
	want("with a damaged counter")
	store.Stop()
	want("without a store")
	want("again without a store")
}
