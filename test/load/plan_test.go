// Copyright The Penstock Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"net/http"
	"net/http/httptest"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func TestPlanCountsStatusAndPods(t *testing.T) {
	t.Parallel()
	var requests atomic.Int64
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		if requests.Add(1) > 7 {
			w.WriteHeader(http.StatusTooManyRequests)
			_, _ = w.Write([]byte(`{"title":"Too Many Requests"}`))
			return
		}
		_, _ = w.Write([]byte(`{"pod":"echo-1","count":1}`))
	}))
	defer server.Close()
	p := plan{URL: server.URL, Requests: 20, Concurrency: 5, Timeout: 10 * time.Second}
	want := result{Status: map[string]int{"200": 7, "429": 13}, Pods: map[string]int{"echo-1": 7}}
	if diff := cmp.Diff(want, p.run(t.Context())); diff != "" {
		t.Errorf("result (-want +got):\n%s", diff)
	}
	if got := requests.Load(); got != 20 {
		t.Errorf("server saw %d requests, want 20", got)
	}
}

func TestPlanKeepsConnectionsAndTheRate(t *testing.T) {
	t.Parallel()
	const callers, requests, rate = 3, 30, 300
	var posts atomic.Int64
	var mu sync.Mutex
	callersSeen := map[string]bool{}
	server := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodPost {
			posts.Add(1)
		}
		mu.Lock()
		defer mu.Unlock()
		callersSeen[r.RemoteAddr] = true
	}))
	defer server.Close()
	began := time.Now()
	got := plan{URL: server.URL, Requests: requests, Concurrency: callers, Rate: rate, KeepAlive: true, Timeout: 10 * time.Second}.run(t.Context())
	if took := time.Since(began); took < requests*time.Second/rate {
		t.Errorf("%d requests at %d/s took %v", requests, rate, took)
	}
	if got.Status["200"] != requests || posts.Load() != requests || len(callersSeen) > callers {
		t.Errorf("got %+v, %d POSTs on %d connections, want %d on at most %d", got, posts.Load(), len(callersSeen), requests, callers)
	}
}

func TestPlanCountsUnanswered(t *testing.T) {
	t.Parallel()
	server := httptest.NewServer(http.NotFoundHandler())
	server.Close()
	got := plan{URL: server.URL, Requests: 3, Concurrency: 2, Timeout: time.Second}.run(t.Context())
	if got.Errors != 3 || got.FirstError == "" || len(got.Status) != 0 {
		t.Errorf("got %+v, want 3 errors with a reason", got)
	}
}

func TestPlanValidate(t *testing.T) {
	t.Parallel()
	good := plan{URL: "http://echo/", Requests: 1, Concurrency: 1, Timeout: time.Second}
	tests := map[string]struct {
		change  func(*plan)
		wantErr bool
	}{
		"good":           {func(*plan) {}, false},
		"no URL":         {func(p *plan) { p.URL = "" }, true},
		"no host":        {func(p *plan) { p.URL = "echo" }, true},
		"no requests":    {func(p *plan) { p.Requests = 0 }, true},
		"no concurrency": {func(p *plan) { p.Concurrency = 0 }, true},
		"negative rate":  {func(p *plan) { p.Rate = -1 }, true},
		"no timeout":     {func(p *plan) { p.Timeout = 0 }, true},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := good
			tc.change(&p)
			if err := p.validate(); (err != nil) != tc.wantErr {
				t.Errorf("validate() = %v, want error: %t", err, tc.wantErr)
			}
		})
	}
}
