// Copyright The Penstock Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bufio"
	"bytes"
	"context"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/penstock-dev/penstock/test/redistest"
)

// running is a penstock run in front of an app.
type running struct {
	t   *testing.T
	url string
	// metrics is where its metrics are.
	metrics string
	// stop ends it as Ctrl-C does, and waits.
	stop func()
}

// output collects what a program prints and tells when it matches.
type output struct {
	mu    sync.Mutex
	text  bytes.Buffer
	found chan []string
	want  *regexp.Regexp
}

var listening = regexp.MustCompile(`(?s)listening: +(http://\S+)\n.*metrics: +(http://\S+)\n`)

func (o *output) Write(text []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.text.Write(text)
	if parts := o.want.FindStringSubmatch(o.text.String()); parts != nil && o.found != nil {
		o.found <- parts
		o.found = nil
	}
	return len(text), nil
}

// startRun runs a policy with this spec until the test ends, in front of an app that
// answers 200, with more flags perhaps.
func startRun(t *testing.T, spec, store string, more ...string) *running {
	t.Helper()
	return startRunOf(t, spec, store, func(http.ResponseWriter, *http.Request) {}, more...)
}

// startRunOf runs a policy with this spec in front of this app until the test ends.
func startRunOf(t *testing.T, spec, store string, handler http.HandlerFunc, more ...string) *running {
	t.Helper()
	app := httptest.NewServer(handler)
	t.Cleanup(app.Close)
	return startRunAt(t, spec, store, app.URL, more...)
}

// startRunAt runs a policy with this spec in front of what is at a URL.
func startRunAt(t *testing.T, spec, store, upstream string, more ...string) *running {
	t.Helper()
	file := writePolicy(t, spec)
	ctx, cancel := context.WithCancel(t.Context())
	ended, printed := make(chan int, 1), &output{want: listening, found: make(chan []string, 1)}
	found := printed.found
	go func() {
		arguments := []string{"run", "--policy", file, "--upstream", upstream, "--listen", "127.0.0.1:0", "--admin", "127.0.0.1:0", "--store", store, "--store-timeout", "5s"}
		ended <- execute(ctx, append(arguments, more...), printed, io.Discard)
	}()
	stop := sync.OnceFunc(func() {
		cancel()
		if code := <-ended; code != 0 {
			t.Errorf("penstock run ended with exit code %d", code)
		}
	})
	t.Cleanup(stop)
	select {
	case at := <-found:
		return &running{t: t, url: at[1], metrics: at[2], stop: stop}
	case code := <-ended:
		ended <- code
		t.Fatalf("penstock run ended at once; policy:\n%s", spec)
	case <-time.After(10 * time.Second):
		t.Fatal("penstock run did not say where it listens within 10 s")
	}
	return nil
}

// writePolicy writes a policy for every pod with this spec, and returns its file.
func writePolicy(t *testing.T, spec string) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), "policy.yaml")
	policy := policyHead + "spec:\n  selector: {}\n  " + strings.ReplaceAll(strings.TrimSpace(spec), "\n", "\n  ") + "\n"
	if err := os.WriteFile(file, []byte(policy), 0o600); err != nil {
		t.Fatal(err)
	}
	return file
}

// ask is a request: its method, path and header, and the address it comes from.
type ask struct {
	method, path string
	header       map[string]string
	from         string
}

// send sends a request on a connection of its own and returns the answer once that
// connection has ended, and with it all that the request does.
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
	if host := a.header["Host"]; host != "" {
		request.Host = host
	}
	request.Close = true
	dialer := &net.Dialer{}
	if a.from != "" {
		dialer.LocalAddr = &net.TCPAddr{IP: net.ParseIP(a.from)}
	}
	conn, err := dialer.DialContext(r.t.Context(), "tcp", request.URL.Host)
	if err != nil {
		r.t.Fatal(err)
	}
	defer conn.Close()
	if err := request.Write(conn); err != nil {
		r.t.Fatal(err)
	}
	text, err := io.ReadAll(conn)
	if err != nil {
		r.t.Fatal(err)
	}
	answer, err := http.ReadResponse(bufio.NewReader(bytes.NewReader(text)), request)
	if err != nil {
		r.t.Fatal(err)
	}
	return answer
}

// count is the value of the sample of a metric whose line begins like this; 0 if
// there is none.
func (r *running) count(sample string) float64 {
	r.t.Helper()
	request, err := http.NewRequestWithContext(r.t.Context(), http.MethodGet, r.metrics, nil)
	if err != nil {
		r.t.Fatal(err)
	}
	client := http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
	answer, err := client.Do(request)
	if err != nil {
		r.t.Fatal(err)
	}
	defer answer.Body.Close()
	text, err := io.ReadAll(answer.Body)
	if err != nil {
		r.t.Fatal(err)
	}
	for line := range strings.SplitSeq(string(text), "\n") {
		if value, found := strings.CutPrefix(line, sample+" "); found {
			number, err := strconv.ParseFloat(value, 64)
			if err != nil {
				r.t.Fatal(err)
			}
			return number
		}
	}
	return 0
}

// decisions is how many requests had an outcome under a rule of the policy.
func (r *running) decisions(rule, outcome string) float64 {
	r.t.Helper()
	return r.count(`penstock_decisions_total{outcome="` + outcome + `",policy="web",rule="` + rule + `"}`)
}

// memoryAndRedis are the stores that a test of counting runs on, each started when it
// is asked for.
func memoryAndRedis(t *testing.T) map[string]func() string {
	t.Helper()
	return map[string]func() string{
		"memory": func() string { return memoryStore },
		"redis":  func() string { return "redis://" + redistest.Start(t).Addr() },
	}
}
