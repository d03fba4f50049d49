// Copyright The Penstock Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"net/http"
	"testing"
	"time"
)

// TestRequestsAtOnce lets two requests at once through, and has one of their clients
// leave and the other get its answer.
func TestRequestsAtOnce(t *testing.T) {
	t.Parallel()
	for name, store := range memoryAndRedis(t) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			arrived, goOn := make(chan struct{}, 8), make(chan struct{})
			server := startRunOf(t, "rules: [{name: all, limits: [{name: l, requests: 2, algorithm: Concurrency}]}]", store(), func(_ http.ResponseWriter, request *http.Request) {
				if request.URL.Path != "/slow" {
					return
				}
				arrived <- struct{}{}
				select {
				case <-goOn:
				case <-request.Context().Done():
				}
			})
			status := make(chan int, 1)
			go func() { status <- server.send(ask{path: "/slow"}).StatusCode }()
			leaving, leave := context.WithCancel(t.Context())
			left := make(chan error, 1)
			go func() {
				request, err := http.NewRequestWithContext(leaving, http.MethodGet, server.url+"/slow", nil)
				if err == nil {
					_, err = (&http.Client{Transport: &http.Transport{DisableKeepAlives: true}}).Do(request)
				}
				left <- err
			}()
			<-arrived
			<-arrived
			if answer := server.send(ask{}); answer.StatusCode != refused || answer.Header.Get("Retry-After") != "1" {
				t.Errorf("a third request was answered with %d and Retry-After %q, want 429 and 1", answer.StatusCode, answer.Header.Get("Retry-After"))
			}
			leave()
			if err := <-left; err == nil {
				t.Error("the request that was given up got an answer")
			}
			server.eventually(allowed, "after a client left")
			close(goOn)
			if got := <-status; got != allowed {
				t.Errorf("the slow request was answered with %d", got)
			}
			// Both places are free, however often they were taken.
			for range 5 {
				server.eventually(allowed, "after all answers")
			}
		})
	}
}

// eventually asks until it is answered with a status.
func (r *running) eventually(status int, when string) {
	r.t.Helper()
	r.eventuallyTo(ask{}, status, when)
}

// eventuallyTo asks something until it is answered with a status.
func (r *running) eventuallyTo(asked ask, status int, when string) {
	r.t.Helper()
	got := 0
	for waited := time.Now(); time.Since(waited) < 10*time.Second; {
		if got = r.send(asked).StatusCode; got == status {
			return
		}
	}
	r.t.Errorf("%s a request is answered with %d, want %d", when, got, status)
}
