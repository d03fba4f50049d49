// Copyright The Penstock Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"net/http"
	"testing"
	"time"

	"github.com/penstock-dev/penstock/test/redistest"
)

// TestLostCorrectionsAreCounted takes the store away while a request is answered.
func TestLostCorrectionsAreCounted(t *testing.T) {
	t.Parallel()
	const lost = "penstock_corrections_lost_total"
	store := redistest.Start(t)
	server := startRunOf(t, "rules: [{name: all, cost: {countOn: {statusCodes: ['401']}}, limits: [{name: hour, requests: 5, window: 1h}]}]", "redis://"+store.Addr(),
		func(http.ResponseWriter, *http.Request) { store.Stop() })
	if got := server.count(lost); got != 0 {
		t.Errorf("%v corrections are lost before there was one", got)
	}
	if got := server.send(ask{}).StatusCode; got != allowed {
		t.Errorf("the request was answered with %d", got)
	}
	for waited := time.Now(); server.count(lost) != 1; {
		if time.Since(waited) > 10*time.Second {
			t.Fatalf("%v corrections are lost, want 1", server.count(lost))
		}
	}
}

// TestNearLimitIsCounted counts what leaves less than a tenth.
func TestNearLimitIsCounted(t *testing.T) {
	t.Parallel()
	server := startRun(t, "rules: [{name: all, limits: [{name: hour, requests: 20, window: 1h}, {name: day, requests: 20, window: 24h}]}, {name: tried, mode: Shadow, limits: [{name: hour, requests: 1, window: 1h}]}]", memoryStore)
	// Of 20, two are a tenth: the requests that leave 1 and 0 are near the limit.
	for range 25 {
		server.send(ask{})
	}
	for rule, want := range map[string]float64{"all": 2, "tried": 0} {
		if got := server.count(`penstock_near_limit_total{policy="web",rule="` + rule + `"}`); got != want {
			t.Errorf("%v requests were near the limit of rule %s, want %v", got, rule, want)
		}
	}
}
