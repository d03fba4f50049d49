// Copyright The Penstock Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"net"
	"net/http"
	"net/http/httptest"
	"testing"
	"testing/synctest"
)

func TestHandlerCounts(t *testing.T) {
	t.Parallel()
	handler := newHandler("echo-1", newAppHealth())
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
	health := newAppHealth()
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		listener := &idleListener{closed: make(chan struct{})}
		ended := make(chan error, 1)
		go func() { ended <- serve(ctx, []net.Listener{listener}, "echo-1", health) }()
		synctest.Wait()
		cancel()
		if err := <-ended; err != nil {
			t.Errorf("serve() = %v, want none after its context ended", err)
		}
	})
}

// idleListener is a listener that nobody connects to.
type idleListener struct{ closed chan struct{} }

func (l *idleListener) Accept() (net.Conn, error) {
	<-l.closed
	return nil, net.ErrClosed
}

func (l *idleListener) Close() error {
	close(l.closed)
	return nil
}

func (l *idleListener) Addr() net.Addr { return &net.TCPAddr{} }
