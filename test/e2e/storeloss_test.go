//go:build e2e

// Copyright The Penstock Authors.
// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"
)

// testLossOfTheStore takes Redis away with all that it counted: each rule goes on as
// its onStoreFailure says, and the rules and exact counts come back with Redis.
func (c *cluster) testLossOfTheStore(t *testing.T) {
	c.kubectl(t, "-n", "e2e-redis", "scale", "deployment/redis", "--replicas=0")
	var last string
	c.eventually(t, 60*time.Second, "Redis has gone", func() bool {
		last = c.kubectl(t, "-n", "e2e-redis", "get", "pods", "-l", "app=redis", "-o", "name")
		return last == ""
	}, func() string { return last })

	// Each of the two pods allows 20 × 1.5 ÷ 2 of its own.
	c.wantStatuses(t, "Local without a store", 100, "/fallback/local", map[int]int{http.StatusOK: 30, http.StatusTooManyRequests: 70})
	c.wantStatuses(t, "Allow without a store", 40, "/fallback/open", map[int]int{http.StatusOK: 40})
	c.wantStatuses(t, "Deny without a store", 40, "/fallback/closed", map[int]int{http.StatusServiceUnavailable: 40})
	for outcome, want := range map[string]float64{"local_allowed": 30, "local_denied": 70, "store_allowed": 40, "store_denied": 40} {
		if got := totalOf(c.metric(t, "api", "penstock_decisions_total", `outcome="`+outcome+`"`, `policy="fallback"`)); got != want {
			t.Errorf("the sidecars counted %v decisions %s, want %v", got, outcome, want)
		}
	}
	c.eventually(t, 60*time.Second, "the policy says that its store is away", func() bool {
		last = c.reason(t, "fallback", "Ready")
		return strings.HasSuffix(last, "StoreUnavailable")
	}, func() string { return last })

	c.kubectl(t, "-n", "e2e-redis", "scale", "deployment/redis", "--replicas=1")
	c.kubectl(t, "-n", "e2e-redis", "rollout", "status", "deployment/redis", "--timeout=60s")
	c.kubectl(t, "-n", shop, "wait", "--for=condition=Ready", "--timeout=60s", "rlpol/fallback")
	var answers map[int]int
	c.eventually(t, 30*time.Second, "the sidecars ask the store again", func() bool {
		answers = statuses(c.send(t, 20, repeat(40, ask{path: "/fallback/closed"})...))
		return answers[http.StatusOK] == 40
	}, func() string { return fmt.Sprintf("answers by status: %v", answers) })
	c.wantStatuses(t, "once the store is back", 60, "/fallback/local", map[int]int{http.StatusOK: 20, http.StatusTooManyRequests: 40})
}

// wantStatuses sends requests, twenty at once, and compares how many had which status.
func (c *cluster) wantStatuses(t *testing.T, when string, count int, path string, want map[int]int) {
	t.Helper()
	got := statuses(c.send(t, 20, repeat(count, ask{path: path})...))
	if fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("%s: answers by status %v, want %v", when, got, want)
	}
}
