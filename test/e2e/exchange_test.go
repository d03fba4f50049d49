//go:build e2e

// Copyright The Penstock Authors.
// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"testing"
	"time"
)

// longestExchange bounds one batch of requests, of which each has 30 s.
const longestExchange = 2 * time.Minute

// ask is one request of the client in the cluster, over a connection of its own.
type ask struct {
	method  string // empty is GET
	service string // empty is api, at its port 80
	path    string // with the query
	host    string // empty is the Service's
	header  map[string]string
}

// reply is what the client got.
type reply struct {
	Status  int
	Header  http.Header
	Body    string
	Seconds float64
	Error   string
}

// pod is the one whose app answered, or empty where none did.
func (r reply) pod() string {
	var app struct{ Pod string }
	// A sidecar's own answer names none.
	_ = json.Unmarshal([]byte(r.Body), &app)
	return app.Pod
}

func (a ask) request() map[string]any {
	if a.method == "" {
		a.method = http.MethodGet
	}
	if a.service == "" {
		a.service = at("api")
	}
	header := http.Header{}
	for name, value := range a.header {
		header.Set(name, value)
	}
	return map[string]any{"method": a.method, "url": a.service + a.path, "host": a.host, "header": header}
}

// at is how a Service of the shop is reached.
func at(service string) string { return "http://" + service + "." + shop + ".svc.cluster.local" }

// repeat is the same request several times.
func repeat(count int, a ask) []ask {
	asks := make([]ask, count)
	for i := range asks {
		asks[i] = a
	}
	return asks
}

// send returns the replies in the order of the requests, which are sent one after the
// other, or several at once. A request without any answer fails the test.
func (c *cluster) send(t *testing.T, atOnce int, asks ...ask) []reply {
	t.Helper()
	requests := make([]map[string]any, len(asks))
	for i, a := range asks {
		requests[i] = a.request()
	}
	var replies []reply
	c.exchange(t, map[string]any{"requests": requests, "atOnce": atOnce}, &replies)
	for i, got := range replies {
		if got.Error != "" {
			t.Fatalf("request %d, %+v, had no answer: %s", i+1, asks[i], got.Error)
		}
	}
	return replies
}

// exchange has the client in the cluster send a batch.
func (c *cluster) exchange(t *testing.T, batch any, replies *[]reply) {
	t.Helper()
	text, err := json.Marshal(batch)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), longestExchange)
	defer cancel()
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, "http://"+c.client, bytes.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	answer, err := http.DefaultClient.Do(request)
	if err != nil {
		t.Fatalf("the client in the cluster has not told the answers of a batch within %s: %v", longestExchange, err)
	}
	defer answer.Body.Close()
	if err := json.NewDecoder(answer.Body).Decode(replies); err != nil {
		t.Fatalf("the client in the cluster answered with %d and no replies: %v", answer.StatusCode, err)
	}
}

// step is a request and the status that it must be answered with.
type step struct {
	ask
	want int
}

// each gives requests the same wanted status.
func each(want int, asks ...ask) []step {
	steps := make([]step, len(asks))
	for i, a := range asks {
		steps[i] = step{a, want}
	}
	return steps
}

// wantAnswers sends the requests of all steps in their order.
func (c *cluster) wantAnswers(t *testing.T, steps ...[]step) {
	t.Helper()
	var all []step
	var asks []ask
	for _, some := range steps {
		for _, s := range some {
			all, asks = append(all, s), append(asks, s.ask)
		}
	}
	for i, got := range c.send(t, 1, asks...) {
		if got.Status != all[i].want {
			t.Errorf("request %d, %s: answered with %d, want %d", i+1, all[i].ask, got.Status, all[i].want)
		}
	}
}

func (a ask) String() string { return fmt.Sprintf("%s %s%s %v", a.method, a.host, a.path, a.header) }

// statuses counts replies by status.
func statuses(replies []reply) map[int]int {
	counts := map[int]int{}
	for _, r := range replies {
		counts[r.Status]++
	}
	return counts
}
