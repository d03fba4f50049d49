// Copyright The Penstock Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"io"
	"net"
	"regexp"
	"testing"
	"time"
)

// TestRunSaysThatItWaitsForTheStoreAndEndsMeanwhile has a store that takes connections
// and never answers.
func TestRunSaysThatItWaitsForTheStoreAndEndsMeanwhile(t *testing.T) {
	t.Parallel()
	var config net.ListenConfig
	silent, err := config.Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = silent.Close() })
	file := writePolicy(t, "rules: [{name: all, limits: [{name: hour, requests: 2, window: 1h}]}]")
	address := silent.Addr().String()
	stores := map[string]string{
		"server":    "redis://" + address,
		"sentinels": "redis-sentinel://" + address + "/main",
		"cluster":   "redis-cluster://" + address,
	}
	for name, store := range stores {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			printed := &output{want: regexp.MustCompile(`waiting up to 5s for an answer of Redis.* at ` + address + `; Ctrl-C ends it`), found: make(chan []string, 1)}
			found, ended := printed.found, make(chan int, 1)
			go func() {
				ended <- execute(ctx, []string{"run", "--policy", file, "--upstream", "http://127.0.0.1:9", "--listen", "127.0.0.1:0", "--store", store}, io.Discard, printed)
			}()
			select {
			case <-found:
			case code := <-ended:
				t.Fatalf("it ended with %d, having said %s", code, printed.text.String())
			}
			cancel()
			asked := time.Now()
			if code := <-ended; code != 0 {
				t.Errorf("it ended with %d, want 0 as for a normal stop", code)
			}
			if took := time.Since(asked); took > 2*time.Second {
				t.Errorf("it took %v to end", took)
			}
		})
	}
}
