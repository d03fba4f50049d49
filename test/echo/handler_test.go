// Copyright The Penstock Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"
)

func TestHandlerCounts(t *testing.T) {
	t.Parallel()
	handler := newHandler("echo-1")
	steps := []struct {
		method, target, want string
	}{
		{"GET", "/count", `{"pod":"echo-1","count":0}` + "\n"},
		{"GET", "/", `{"pod":"echo-1","count":1}` + "\n"},
		{"POST", "/any/path?q=1", `{"pod":"echo-1","count":2}` + "\n"},
		{"GET", "/healthz", ""},
		{"POST", "/count", `{"pod":"echo-1","count":3}` + "\n"},
		{"GET", "/count", `{"pod":"echo-1","count":3}` + "\n"},
	}
	for _, step := range steps {
		recorder := httptest.NewRecorder()
		handler.ServeHTTP(recorder, httptest.NewRequest(step.method, step.target, nil))
		if recorder.Code != http.StatusOK || recorder.Body.String() != step.want {
			t.Errorf("%s %s: got %d %q, want 200 %q", step.method, step.target, recorder.Code, recorder.Body, step.want)
		}
	}
}

func TestServeEndsWithItsContext(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- serve(ctx, "127.0.0.1:0", "echo-1") }()
	cancel()
	select {
	case err := <-ended:
		if err != nil && ctx.Err() == nil {
			t.Errorf("serve: %v", err)
		}
	case <-time.After(10 * time.Second):
		t.Fatal("serve did not end within 10 s of its context")
	}
}
