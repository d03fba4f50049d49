// Copyright The Penstock Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"net"
	"net/http"
	"strings"
	"testing"

	"github.com/penstock-dev/penstock/test/redistest"
)

// TestRunCountsInEveryKindOfStore has a limit decided by the store: while it fails,
// each rule denies.
func TestRunCountsInEveryKindOfStore(t *testing.T) {
	t.Parallel()
	const spec = "rules:\n- name: all\n  onStoreFailure: Deny\n  limits:\n  - {name: hour, requests: 2, window: 1h}"
	tests := map[string]func(*testing.T) string{
		"memory": func(*testing.T) string { return memoryStore },
		"redis":  func(t *testing.T) string { return "redis://" + redistest.Start(t).Addr() + "/1" },
		"Unix socket": func(t *testing.T) string {
			return "unix://" + redistest.Start(t, redistest.WithSocket()).Socket() + "?database=1"
		},
		"Cluster": func(t *testing.T) string {
			return "redis-cluster://" + strings.Join(redistest.StartCluster(t).Addrs(), ",")
		},
		"Sentinel": func(t *testing.T) string {
			watched := redistest.StartSentinel(t, redistest.WithPassword("watchword"))
			return "redis-sentinel://" + strings.Join(watched.Addrs(), ",") + "/" + watched.MasterName() + "?sentinelPassword=watchword"
		},
	}
	for name, open := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := startRun(t, spec, open(t), "--store-timeout=2s")
			for i, want := range []int{http.StatusOK, http.StatusOK, http.StatusTooManyRequests} {
				if got := r.send(ask{path: "/"}).StatusCode; got != want {
					t.Errorf("request %d: %d, want %d", i+1, got, want)
				}
			}
		})
	}
}

// TestSpellingsOfAStoreShareItsCounts runs the same policy on one Redis twice.
func TestSpellingsOfAStoreShareItsCounts(t *testing.T) {
	t.Parallel()
	const spec = "rules: [{name: all, onStoreFailure: Deny, key: [{name: k, from: [{header: {name: X-Key}}]}], limits: [{name: hour, requests: 1, window: 1h}]}]"
	_, port, err := net.SplitHostPort(redistest.Start(t).Addr())
	if err != nil {
		t.Fatal(err)
	}
	ada := ask{header: map[string]string{"X-Key": "ada"}}
	if got := startRun(t, spec, "redis://127.0.0.1:"+port).send(ada).StatusCode; got != allowed {
		t.Errorf("by one spelling: %d, want %d", got, allowed)
	}
	if got := startRun(t, spec, "redis://localhost:"+port+"/0").send(ada).StatusCode; got != refused {
		t.Errorf("by another: %d, want %d", got, refused)
	}
}
