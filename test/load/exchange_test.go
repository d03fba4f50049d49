// Copyright The Penstock Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"
)

func TestExchangeTellsAnswers(t *testing.T) {
	t.Parallel()
	app := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		w.Header()["X-Seen"] = r.Header["X-Sent"]
		w.WriteHeader(http.StatusTeapot)
		fmt.Fprintf(w, "%s %s %s %s", r.Method, r.Host, r.URL.Path, body)
	}))
	defer app.Close()
	got := exchange(t, batch{Requests: []request{
		{Method: "PUT", URL: app.URL + "/a//b", Host: "shop.example", Header: http.Header{"X-Sent": {"1", "2"}}, Body: "words"},
		{Method: "GET", URL: "http://127.0.0.1:0/"},
	}})
	if first := got[0]; first.Status != http.StatusTeapot || first.Body != "PUT shop.example /a//b words" || len(first.Header["X-Seen"]) != 2 || first.Error != "" {
		t.Errorf("the first reply is %+v", first)
	}
	if second := got[1]; second.Status != 0 || second.Error == "" {
		t.Errorf("the second reply is %+v, want an error: nobody is there", second)
	}
}

// TestExchangeSendsAtOnce has requests that are answered only once all of them are there.
func TestExchangeSendsAtOnce(t *testing.T) {
	t.Parallel()
	const together = 5
	var here atomic.Int64
	all := make(chan struct{})
	app := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {
		if here.Add(1) == together {
			close(all)
		}
		<-all
	}))
	defer app.Close()
	asked := batch{AtOnce: together}
	for range together {
		asked.Requests = append(asked.Requests, request{Method: "GET", URL: app.URL})
	}
	for i, got := range exchange(t, asked) {
		if got.Status != http.StatusOK {
			t.Errorf("reply %d is %+v, want 200", i, got)
		}
	}
}

func TestExchangeRefusesWhatIsTooMuch(t *testing.T) {
	t.Parallel()
	for name, body := range map[string]string{"no batch": "requests", "too many at once": fmt.Sprintf(`{"atOnce": %d}`, mostAtOnce+1)} {
		recorder := httptest.NewRecorder()
		exchangeHandler(nil).ServeHTTP(recorder, httptest.NewRequest(http.MethodPost, "/", strings.NewReader(body)))
		if recorder.Code != http.StatusBadRequest {
			t.Errorf("%s: answered with %d, want 400", name, recorder.Code)
		}
	}
}

func exchange(t *testing.T, asked batch) []reply {
	t.Helper()
	text, err := json.Marshal(asked)
	if err != nil {
		t.Fatal(err)
	}
	recorder := httptest.NewRecorder()
	exchangeHandler(newExchangeClient(10*time.Second)).ServeHTTP(recorder, httptest.NewRequest(http.MethodPost, "/", strings.NewReader(string(text))))
	var replies []reply
	if err := json.Unmarshal(recorder.Body.Bytes(), &replies); err != nil || len(replies) != len(asked.Requests) {
		t.Fatalf("answered with %d %q, want %d replies", recorder.Code, recorder.Body, len(asked.Requests))
	}
	return replies
}
