// Copyright The Penstock Authors.
// SPDX-License-Identifier: Apache-2.0

package proxy

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/penstock-dev/penstock/internal/limiter"
	"github.com/penstock-dev/penstock/internal/match"
	"github.com/penstock-dev/penstock/internal/ruleset"
)

const testAppPort = 8080

// patience is how long a test waits for what must happen.
const patience = 10 * time.Second

type decideFunc func(ctx context.Context, namespace string, checks []limiter.Check) (limiter.Decision, error)

func (f decideFunc) Decide(ctx context.Context, namespace string, checks []limiter.Check) (limiter.Decision, error) {
	return f(ctx, namespace, checks)
}

// fixture is a server in front of an app.
type fixture struct {
	server *Server
	// address is where the intercepted port listens, url the same as a URL.
	address, url, adminURL string
	// logs is what the server logged.
	logs *bytes.Buffer
	// stop ends the server and returns what Run returned.
	stop func() error
}

// start runs a server in front of an upstream until the test ends. With nil
// rules it enforces an empty rule set; decide is asked where a rule is met.
func start(t testing.TB, upstream string, rules *Rules, decide decideFunc) *fixture {
	t.Helper()
	f := startBare(t, upstream, decide, Options{})
	if rules == nil {
		rules = rulesOf(t)
	}
	f.server.SetRules(rules)
	return f
}

// startBare runs a server that has no rules yet.
func startBare(t testing.TB, upstream string, decide decideFunc, options Options) *fixture {
	t.Helper()
	logs := &bytes.Buffer{}
	options.Admin = []string{"127.0.0.1:0"}
	options.Logger = slog.New(slog.NewJSONHandler(logs, nil))
	ports := []Port{{Listen: []string{"127.0.0.1:0"}, AppPort: testAppPort, Upstream: upstream}}
	server, err := New(ports, decide, options)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.WithoutCancel(t.Context()))
	if err := server.Listen(ctx); err != nil {
		t.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() { ended <- server.Run(ctx) }()
	f := &fixture{
		server: server, logs: logs,
		address: server.Addresses(testAppPort)[0].String(), adminURL: "http://" + server.AdminAddresses()[0].String(),
	}
	f.url = "http://" + f.address
	stopped := false
	f.stop = func() error {
		if stopped {
			return nil
		}
		stopped = true
		cancel()
		return <-ended
	}
	t.Cleanup(func() {
		if err := f.stop(); err != nil {
			t.Errorf("Run = %v, want nil", err)
		}
	})
	return f
}

// rulesOf compiles policies for a pod; none is an empty rule set.
func rulesOf(t testing.TB, policies ...ruleset.Policy) *Rules {
	t.Helper()
	matcher, err := match.Compile(&ruleset.RuleSet{
		Format: ruleset.Format, Namespace: "shop", IdentityKey: []byte("0123456789abcdef"), Policies: policies,
	}, nil, match.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return &Rules{Matcher: matcher, Namespace: "shop", Revision: "b3f1c0a9d2e4"}
}

// onePolicy has one rule "all" for every request, with one limit of 10 per minute.
func onePolicy() ruleset.Policy {
	return ruleset.Policy{
		Kind: "RateLimitPolicy", Name: "web", Selectors: []ruleset.Selector{{}},
		Response: ruleset.Response{Headers: []ruleset.HeaderFamily{ruleset.HeadersRateLimit, ruleset.HeadersXRateLimit}},
		Rules: []ruleset.Rule{{
			Name: "all", OnStoreFailure: ruleset.FailLocal, LoosenessMilli: 1500,
			Limits: []ruleset.Limit{{Name: "minute", Algorithm: ruleset.FixedWindow, Requests: 10, Burst: 10, WindowMicros: 60_000_000, Key: "AAAAAAAA"}},
		}},
	}
}

// stateFor is the state of a check's limit that admits, with 9 left.
func stateFor(check limiter.Check) limiter.LimitState {
	return limiter.LimitState{
		Kind: check.Kind, Policy: check.Policy, Rule: check.Rule, Limit: check.Limit.Name,
		Requests: check.Limit.Requests, Burst: check.Limit.Burst, Window: time.Duration(check.Limit.WindowMicros) * time.Microsecond,
		Identity: check.Identity, Allowed: true, Remaining: 9, ResetAfter: 30 * time.Second, NextAfter: 30 * time.Second,
	}
}

// admitting admits every request.
func admitting(_ context.Context, _ string, checks []limiter.Check) (limiter.Decision, error) {
	decision := limiter.Decision{Allowed: true}
	for _, check := range checks {
		decision.Limits = append(decision.Limits, stateFor(check))
	}
	return decision, nil
}

// refusing refuses every request for a while.
func refusing(retryAfter time.Duration) decideFunc {
	return func(_ context.Context, _ string, checks []limiter.Check) (limiter.Decision, error) {
		decision := limiter.Decision{RetryAfter: retryAfter}
		for _, check := range checks {
			state := stateFor(check)
			state.Allowed, state.Remaining, state.RetryAfter, state.NextAfter = false, 0, retryAfter, retryAfter
			decision.Limits = append(decision.Limits, state)
		}
		return decision, nil
	}
}

// startApp runs an app of net/http and returns its URL.
func startApp(t testing.TB, handler http.HandlerFunc) string {
	t.Helper()
	app := httptest.NewServer(handler)
	t.Cleanup(app.Close)
	return app.URL
}

// startRawApp runs an app that speaks for itself on each connection, and is given
// the request's head as it arrived.
func startRawApp(t *testing.T, serve func(conn net.Conn, reader *bufio.Reader, head string)) string {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		for {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			reader := bufio.NewReader(conn)
			if head, err := readHead(reader); err == nil {
				serve(conn, reader, head)
			}
			conn.Close()
		}
	}()
	t.Cleanup(func() {
		listener.Close()
		<-done
	})
	return listener.Addr().String()
}

// readHead reads the lines up to the empty one.
func readHead(reader *bufio.Reader) (string, error) {
	var head strings.Builder
	for {
		line, err := reader.ReadString('\n')
		if err != nil {
			return head.String(), err
		}
		if line == "\r\n" {
			return head.String(), nil
		}
		head.WriteString(line)
	}
}

// dial connects to the server for raw talk.
func (f *fixture) dial(t *testing.T) (net.Conn, *bufio.Reader) {
	t.Helper()
	conn, err := net.Dial("tcp", f.address)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close() })
	if err := conn.SetDeadline(time.Now().Add(patience)); err != nil {
		t.Fatal(err)
	}
	return conn, bufio.NewReader(conn)
}

// exchange sends a raw request and returns the answer, to be read to its end.
func (f *fixture) exchange(t *testing.T, request string) string {
	t.Helper()
	conn, reader := f.dial(t)
	fmt.Fprint(conn, request)
	answer, err := io.ReadAll(reader)
	if err != nil {
		t.Fatalf("read answer to %q: %v", request, err)
	}
	return string(answer)
}

// client is a fresh HTTP client that follows no redirects and keeps no
// connection beyond the test.
func client(t testing.TB) *http.Client {
	transport := &http.Transport{DisableCompression: true}
	t.Cleanup(transport.CloseIdleConnections)
	return &http.Client{Transport: transport, Timeout: patience, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
}

// send does a request and returns the answer with its body.
func send(t testing.TB, method, url string, header http.Header, body io.Reader) (*http.Response, string) {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), method, url, body)
	if err != nil {
		t.Fatal(err)
	}
	for name, values := range header {
		request.Header[name] = values
	}
	response, err := client(t).Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	content, err := io.ReadAll(response.Body)
	if err != nil {
		t.Fatal(err)
	}
	return response, string(content)
}
