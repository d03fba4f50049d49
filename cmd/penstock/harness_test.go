// Copyright The Penstock Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"context"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"
)

// running is a penstock run in front of an app that answers 200.
type running struct {
	t   *testing.T
	url string
}

// output collects what a program prints and tells when it matches.
type output struct {
	mu    sync.Mutex
	text  bytes.Buffer
	found chan string
	want  *regexp.Regexp
}

var listening = regexp.MustCompile(`listening: +(http://\S+)\n`)

func (o *output) Write(text []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.text.Write(text)
	if parts := o.want.FindStringSubmatch(o.text.String()); parts != nil && o.found != nil {
		o.found <- parts[1]
		o.found = nil
	}
	return len(text), nil
}

// startRun runs a policy with this spec until the test ends, with more flags perhaps.
func startRun(t *testing.T, spec, store string, more ...string) *running {
	t.Helper()
	app := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}))
	t.Cleanup(app.Close)
	file := filepath.Join(t.TempDir(), "policy.yaml")
	policy := "apiVersion: ratelimit.penstock.dev/v1alpha1\nkind: RateLimitPolicy\nmetadata: {name: web}\nspec:\n  selector: {}\n  " +
		strings.ReplaceAll(strings.TrimSpace(spec), "\n", "\n  ") + "\n"
	if err := os.WriteFile(file, []byte(policy), 0o600); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	ended, printed := make(chan int, 1), &output{want: listening, found: make(chan string, 1)}
	found := printed.found
	go func() {
		arguments := []string{"run", "--policy", file, "--upstream", app.URL, "--listen", "127.0.0.1:0", "--store", store}
		ended <- execute(ctx, append(arguments, more...), printed, io.Discard)
	}()
	t.Cleanup(func() {
		cancel()
		if code := <-ended; code != 0 {
			t.Errorf("penstock run ended with exit code %d", code)
		}
	})
	select {
	case url := <-found:
		return &running{t: t, url: url}
	case code := <-ended:
		ended <- code
		t.Fatalf("penstock run ended at once; policy:\n%s", policy)
	case <-time.After(10 * time.Second):
		t.Fatal("penstock run did not say where it listens within 10 s")
	}
	return nil
}

// ask is a request: its method, path and header, and the address it comes from.
type ask struct {
	method, path string
	header       map[string]string
	from         string
}

// send sends a request on a connection of its own and returns the answer.
func (r *running) send(a ask) *http.Response {
	r.t.Helper()
	method := a.method
	if method == "" {
		method = http.MethodGet
	}
	request, err := http.NewRequestWithContext(r.t.Context(), method, r.url+a.path, nil)
	if err != nil {
		r.t.Fatal(err)
	}
	for name, value := range a.header {
		request.Header.Set(name, value)
	}
	dialer := &net.Dialer{}
	if a.from != "" {
		dialer.LocalAddr = &net.TCPAddr{IP: net.ParseIP(a.from)}
	}
	client := http.Client{Transport: &http.Transport{DialContext: dialer.DialContext, DisableKeepAlives: true}}
	answer, err := client.Do(request)
	if err != nil {
		r.t.Fatal(err)
	}
	if err := answer.Body.Close(); err != nil {
		r.t.Fatal(err)
	}
	return answer
}
