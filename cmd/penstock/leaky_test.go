// Copyright The Penstock Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"
)

// TestRequestsLeaveAtASteadyRate sends four requests at once into a queue of three
// that one leaves every half second.
func TestRequestsLeaveAtASteadyRate(t *testing.T) {
	t.Parallel()
	for name, store := range memoryAndRedis(t) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			const interval = 500 * time.Millisecond
			arrivals := make(chan time.Time, 4)
			server := startRunOf(t, "rules: [{name: all, limits: [{name: l, requests: 2, window: 1s, burst: 3, algorithm: LeakyBucket}]}]", store(),
				func(http.ResponseWriter, *http.Request) { arrivals <- time.Now() })
			began := time.Now()
			statuses := make(chan int, 4)
			var group sync.WaitGroup
			for range 4 {
				group.Go(func() { statuses <- server.send(ask{}).StatusCode })
			}
			group.Wait()
			close(arrivals)
			close(statuses)
			n := time.Duration(0)
			for at := range arrivals {
				if at.Sub(began) < n*interval {
					t.Errorf("request %d reached the app after %v, want %v at least", n+1, at.Sub(began), n*interval)
				}
				n++
			}
			counts := make(map[int]int)
			for status := range statuses {
				counts[status]++
			}
			if n != 3 || counts[allowed] != 3 || counts[refused] != 1 {
				t.Errorf("%d requests reached the app, answers by status %v; want 3, and one refused", n, counts)
			}
		})
	}
}

// TestQueueThatIsTooLongIsNotTaken names the field and what to write.
func TestQueueThatIsTooLongIsNotTaken(t *testing.T) {
	t.Parallel()
	file := writePolicy(t, "rules: [{name: all, limits: [{name: l, requests: 60, window: 1m, algorithm: LeakyBucket}]}]")
	_, err := loadPolicies(t.Context(), []string{file}, "")
	if err == nil || !strings.Contains(err.Error(), "spec.rules[0].limits[0].burst: is 60") || !strings.Contains(err.Error(), "write burst: 30 or less") {
		t.Errorf("error %v, want one that says how large burst may be", err)
	}
}
