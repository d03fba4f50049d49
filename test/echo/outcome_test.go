// Copyright The Penstock Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"
)

func TestRequestsAskForTheirOutcome(t *testing.T) {
	t.Parallel()
	handler := newHandler("echo-1", newAppHealth())
	for target, want := range map[string]struct {
		status int
		cost   string
		wait   time.Duration
	}{
		"/":                   {status: http.StatusOK},
		"/login?status=401":   {status: http.StatusUnauthorized},
		"/?status=503&cost=7": {status: http.StatusServiceUnavailable, cost: "7"},
		"/?wait=20ms":         {status: http.StatusOK, wait: 20 * time.Millisecond},
		"/?status=100":        {status: http.StatusBadRequest},
		"/?status=all":        {status: http.StatusBadRequest},
		"/?wait=1h":           {status: http.StatusBadRequest},
		"/?wait=-1s":          {status: http.StatusBadRequest},
	} {
		t.Run(target, func(t *testing.T) {
			t.Parallel()
			recorder, began := httptest.NewRecorder(), time.Now()
			handler.ServeHTTP(recorder, httptest.NewRequest(http.MethodGet, target, nil))
			if recorder.Code != want.status || recorder.Header().Get("X-Cost") != want.cost || time.Since(began) < want.wait {
				t.Errorf("got %d, cost %q, after %v, want %+v", recorder.Code, recorder.Header().Get("X-Cost"), time.Since(began), want)
			}
		})
	}
}

func TestDocumentIsKept(t *testing.T) {
	t.Parallel()
	handler := newHandler("echo-1", newAppHealth())
	ask := func(method, body string) string {
		recorder := httptest.NewRecorder()
		handler.ServeHTTP(recorder, httptest.NewRequest(method, "/document", strings.NewReader(body)))
		if recorder.Code != http.StatusOK {
			t.Errorf("%s was answered with %d", method, recorder.Code)
		}
		return recorder.Body.String()
	}
	for _, want := range []string{`{"keys":[]}`, "another"} {
		ask(http.MethodPut, want)
		if got := ask(http.MethodGet, ""); got != want {
			t.Errorf("got %q, want %q, which was put", got, want)
		}
	}
}
