// Copyright The Penstock Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"strconv"
	"strings"
	"testing"

	"github.com/penstock-dev/penstock/test/redistest"
)

// TestPrecision counts how often the store is asked about 50 requests.
func TestPrecision(t *testing.T) {
	t.Parallel()
	const requests = 50
	tests := map[string]func(calls int) bool{
		"Exact":  func(calls int) bool { return calls >= requests },
		"Leased": func(calls int) bool { return calls > 0 && calls < requests/2 },
	}
	for precision, want := range tests {
		t.Run(precision, func(t *testing.T) {
			t.Parallel()
			store := redistest.Start(t)
			server := startRun(t, "rules: [{name: all, precision: "+precision+", limits: [{name: hour, requests: 1000, window: 1h}]}]", "redis://"+store.Addr())
			for range requests {
				if got := server.send(ask{}).StatusCode; got != allowed {
					t.Fatalf("a request was answered with %d", got)
				}
			}
			stats, err := store.Client(t).Info(t.Context(), "commandstats").Result()
			if err != nil {
				t.Fatal(err)
			}
			if calls := callsOf(t, stats, "eval") + callsOf(t, stats, "evalsha"); !want(calls) {
				t.Errorf("the store was asked %d times about %d requests", calls, requests)
			}
		})
	}
}

// callsOf is how often a command was called, as INFO commandstats tells.
func callsOf(t *testing.T, stats, command string) int {
	t.Helper()
	_, rest, found := strings.Cut(stats, "cmdstat_"+command+":calls=")
	if !found {
		return 0
	}
	digits, _, _ := strings.Cut(rest, ",")
	calls, err := strconv.Atoi(digits)
	if err != nil {
		t.Fatal(err)
	}
	return calls
}
