// Copyright The Penstock Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"net/http"
	"testing"

	"github.com/penstock-dev/penstock/test/redistest"
)

// TestScopes has two processes, which stand for two pods, count in one store.
func TestScopes(t *testing.T) {
	t.Parallel()
	const limit = "limits: [{name: hour, requests: 2, window: 1h, algorithm: "
	tests := map[string]struct {
		rules string
		// want are the answers of the first process to four requests, then those of the
		// second.
		want [2][4]int
	}{
		"scope Policy":             {"[{name: all, scope: Policy, " + limit + "FixedWindow}]}]", [2][4]int{{200, 200, 429, 429}, {429, 429, 429, 429}}},
		"scope Pod":                {"[{name: all, scope: Pod, " + limit + "FixedWindow}]}]", [2][4]int{{200, 200, 429, 429}, {200, 200, 429, 429}}},
		"a TokenBucket":            {"[{name: all, scope: Pod, " + limit + "TokenBucket}]}]", [2][4]int{{200, 200, 429, 429}, {200, 200, 429, 429}}},
		"a SlidingWindowLog":       {"[{name: all, scope: Pod, " + limit + "SlidingWindowLog}]}]", [2][4]int{{200, 200, 429, 429}, {200, 200, 429, 429}}},
		"a SlidingWindowCounter":   {"[{name: all, scope: Pod, " + limit + "SlidingWindowCounter}]}]", [2][4]int{{200, 200, 429, 429}, {200, 200, 429, 429}}},
		"costs that are corrected": {"[{name: all, scope: Pod, cost: {countOn: {statusCodes: ['404']}}, " + limit + "FixedWindow}]}]", [2][4]int{{200, 200, 200, 200}, {200, 200, 200, 200}}},
		"costs of answers":         {"[{name: all, scope: Pod, cost: {response: {header: X-Cost, max: 2}}, " + limit + "FixedWindow}]}]", [2][4]int{{200, 429, 429, 429}, {200, 429, 429, 429}}},
		"places":                   {"[{name: all, scope: Pod, limits: [{name: places, requests: 1, algorithm: Concurrency}]}]", [2][4]int{{200, 200, 200, 200}, {200, 200, 200, 200}}},
		"both, the pods' is smaller": {
			"[{name: own, scope: Pod, " + limit + "FixedWindow}]}, {name: all, limits: [{name: hour, requests: 3, window: 1h}]}]",
			[2][4]int{{200, 200, 429, 429}, {200, 429, 429, 429}},
		},
		"both, what the store refuses costs the pod nothing": {
			"[{name: own, scope: Pod, matches: [{methods: [GET]}], " + limit + "FixedWindow}]}, {name: all, matches: [{methods: [GET]}], limits: [{name: hour, requests: 1, window: 1h}]}]",
			[2][4]int{{200, 429, 429, 429}, {429, 429, 429, 429}},
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			store := "redis://" + redistest.Start(t).Addr()
			app := func(w http.ResponseWriter, _ *http.Request) { w.Header().Set("X-Cost", "1") }
			for i, want := range tc.want {
				server := startRunOf(t, "rules: "+tc.rules, store, app)
				var got [4]int
				for j := range got {
					got[j] = server.send(ask{}).StatusCode
				}
				if got != want {
					t.Errorf("process %d answered %v, want %v", i+1, got, want)
				}
			}
		})
	}
}

// TestScopePodNeedsNoStore stops the store under a limiter that has no use for it.
func TestScopePodNeedsNoStore(t *testing.T) {
	t.Parallel()
	redis := redistest.Start(t)
	server := startRun(t, "rules: [{name: all, scope: Pod, "+oneAnHour+"}]", "redis://"+redis.Addr())
	redis.Stop()
	for i, want := range []int{allowed, refused, refused} {
		if got := server.send(ask{}).StatusCode; got != want {
			t.Errorf("request %d was answered with %d, want %d", i+1, got, want)
		}
	}
	if got := server.decisions("all", "denied"); got != 2 {
		t.Errorf("%v were counted as denied, want 2", got)
	}
}

// TestScopeTargetNeedsTargets has a policy that selects pods by itself.
func TestScopeTargetNeedsTargets(t *testing.T) {
	t.Parallel()
	file := writePolicy(t, "rules: [{name: all, scope: Target, "+oneAnHour+"}]")
	if _, err := loadPolicies(t.Context(), []string{file}, ""); err == nil {
		t.Error("a policy without targetRefs was taken")
	}
}
