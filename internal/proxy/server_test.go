// Copyright The Penstock Authors.
// SPDX-License-Identifier: Apache-2.0

package proxy

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os/exec"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/penstock-dev/penstock/internal/limiter"
	"github.com/penstock-dev/penstock/internal/ruleset"
)

func okApp(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "ok") }

func TestChecksAreComplete(t *testing.T) {
	t.Parallel()
	asked := make(chan []limiter.Check, 1)
	policy := onePolicy()
	rules := rulesOf(t, policy)
	rules.LivePods = map[PolicyID]int64{{Kind: "RateLimitPolicy", Name: "web"}: 3}
	f := start(t, startApp(t, okApp), rules, func(ctx context.Context, namespace string, checks []limiter.Check) (limiter.Decision, error) {
		if namespace != "shop" {
			t.Errorf("namespace is %q, want shop", namespace)
		}
		asked <- slices.Clone(checks)
		return admitting(ctx, namespace, checks)
	})
	response, body := send(t, http.MethodGet, f.url, nil, nil)
	if response.StatusCode != http.StatusOK || body != "ok" || response.Header.Get("X-RateLimit-Remaining") != "9" {
		t.Errorf("answer is %d %q with %v", response.StatusCode, body, response.Header)
	}
	got := <-asked
	want := []limiter.Check{{
		Kind: "RateLimitPolicy", Policy: "web", Rule: "all", Limit: &policy.Rules[0].Limits[0], Identity: got[0].Identity, Cost: 1,
		OnStoreFailure: ruleset.FailLocal, LoosenessMilli: 1500, LivePods: 3,
	}}
	if diff := cmp.Diff(want, got, cmpopts.IgnoreUnexported(limiter.Check{})); diff != "" {
		t.Errorf("checks (-want +got):\n%s", diff)
	}
}

// TestLimitHolds has a real limiter count requests that come all at once.
func TestLimitHolds(t *testing.T) {
	t.Parallel()
	var seen atomic.Int64
	app := startApp(t, func(w http.ResponseWriter, request *http.Request) {
		seen.Add(1)
		okApp(w, request)
	})
	now := time.Unix(1_800_000_000, 0)
	f := start(t, app, rulesOf(t, onePolicy()), limiter.NewMemory(func() time.Time { return now }, 0).Decide)
	var admitted, refused atomic.Int64
	var group sync.WaitGroup
	for range 25 {
		group.Go(func() {
			switch response, _ := send(t, http.MethodGet, f.url, nil, nil); response.StatusCode {
			case http.StatusOK:
				admitted.Add(1)
			case http.StatusTooManyRequests:
				refused.Add(1)
				if got := response.Header.Get("Retry-After"); got != "60" {
					t.Errorf("Retry-After is %q, want 60", got)
				}
			}
		})
	}
	group.Wait()
	if admitted.Load() != 10 || refused.Load() != 15 || seen.Load() != 10 {
		t.Errorf("admitted %d, refused %d, the app saw %d, want 10, 15, 10", admitted.Load(), refused.Load(), seen.Load())
	}
}

// TestKeyThatTheAppWillNotSeeIsMissing has a client that names its key in
// Connection: to the app it is anonymous, so it must be counted as such.
func TestKeyThatTheAppWillNotSeeIsMissing(t *testing.T) {
	t.Parallel()
	identities := make(chan string, 1)
	policy := onePolicy()
	policy.Rules[0].Key = []ruleset.KeyPart{{Name: "client", From: []ruleset.KeySource{{Kind: ruleset.SourceHeader, Name: "x-api-key"}}}}
	f := start(t, startApp(t, okApp), rulesOf(t, policy), func(ctx context.Context, namespace string, checks []limiter.Check) (limiter.Decision, error) {
		identities <- checks[0].Identity
		return admitting(ctx, namespace, checks)
	})
	identityOf := func(fields string) string {
		f.exchange(t, "GET / HTTP/1.1\r\nHost: a\r\n"+fields+"Connection: close\r\n\r\n")
		return <-identities
	}
	anonymous, known := identityOf(""), identityOf("X-Api-Key: 1\r\n")
	if anonymous == known {
		t.Fatal("a key makes no difference")
	}
	for _, connection := range []string{"x-api-key", "keep-alive , X-API-Key"} {
		if got := identityOf("X-Api-Key: 1\r\nConnection: " + connection + "\r\n"); got != anonymous {
			t.Errorf("with Connection: %s the client is not anonymous", connection)
		}
	}
}

func TestRequestWithoutRuleIsNotDecided(t *testing.T) {
	t.Parallel()
	f := start(t, startApp(t, okApp), nil, func(context.Context, string, []limiter.Check) (limiter.Decision, error) {
		t.Error("a request that meets no rule was decided about")
		return limiter.Decision{}, nil
	})
	if response, _ := send(t, http.MethodGet, f.url, nil, nil); response.Header.Get("X-RateLimit-Limit") != "" {
		t.Errorf("header is %v, want nothing about limits", response.Header)
	}
}

// TestDeciderThatFails holds that each rule's onStoreFailure decides then.
func TestDeciderThatFails(t *testing.T) {
	t.Parallel()
	failing := func(context.Context, string, []limiter.Check) (limiter.Decision, error) {
		return limiter.Decision{}, errors.New("no verdict")
	}
	for onFailure, want := range map[ruleset.OnStoreFailure]int{ruleset.FailDeny: 503, ruleset.FailAllow: 200, ruleset.FailLocal: 200} {
		policy := onePolicy()
		policy.Rules[0].OnStoreFailure = onFailure
		f := start(t, startApp(t, okApp), rulesOf(t, policy), failing)
		if response, _ := send(t, http.MethodGet, f.url, nil, nil); response.StatusCode != want {
			t.Errorf("%s: answer is %d, want %d", onFailure, response.StatusCode, want)
		}
		if got := metric(t, f, `penstock_store_errors_total{kind="undecided"}`); got != "1" {
			t.Errorf("%s: %s undecided requests counted, want 1", onFailure, got)
		}
	}
}

func TestRequestsWaitForTheFirstRules(t *testing.T) {
	t.Parallel()
	f := startBare(t, startApp(t, okApp), refusing(time.Second), Options{NoRulesWait: time.Hour})
	if response, body := send(t, http.MethodGet, f.adminURL+"/readyz", nil, nil); response.StatusCode != http.StatusServiceUnavailable {
		t.Errorf("before the first rules /readyz is %d %q, want 503", response.StatusCode, body)
	}
	if response, _ := send(t, http.MethodGet, f.adminURL+"/healthz", nil, nil); response.StatusCode != http.StatusOK {
		t.Errorf("/healthz is %d, want 200", response.StatusCode)
	}
	conn, reader := f.dial(t)
	fmt.Fprint(conn, "GET / HTTP/1.1\r\nHost: a\r\n\r\n")
	f.server.SetRules(rulesOf(t, onePolicy()))
	if head, err := readHead(reader); err != nil || !strings.HasPrefix(head, "HTTP/1.1 429") {
		t.Errorf("answer is %q, %v, want the rules to refuse", head, err)
	}
	if response, _ := send(t, http.MethodGet, f.adminURL+"/readyz", nil, nil); response.StatusCode != http.StatusOK {
		t.Errorf("with rules /readyz is %d, want 200", response.StatusCode)
	}
	if got := metric(t, f, "penstock_no_rules_total"); got != "0" {
		t.Errorf("penstock_no_rules_total is %s, want 0", got)
	}
}

func TestRequestsAreServedWithoutRulesAfterTheWait(t *testing.T) {
	t.Parallel()
	f := startBare(t, startApp(t, okApp), nil, Options{NoRulesWait: time.Millisecond})
	if response, _ := send(t, http.MethodGet, f.url, nil, nil); response.StatusCode != http.StatusOK {
		t.Errorf("answer is %d, want 200", response.StatusCode)
	}
	if response, _ := send(t, http.MethodGet, f.adminURL+"/readyz", nil, nil); response.StatusCode != http.StatusOK {
		t.Errorf("/readyz is %d, want 200", response.StatusCode)
	}
	if got := metric(t, f, "penstock_no_rules_total"); got != "1" {
		t.Errorf("penstock_no_rules_total is %s, want 1", got)
	}
}

// TestRulesAreSwappedWhileServing sets rules all the time; each request must be
// decided by one whole set.
func TestRulesAreSwappedWhileServing(t *testing.T) {
	t.Parallel()
	f := start(t, startApp(t, okApp), nil, refusing(time.Second))
	with, without := rulesOf(t, onePolicy()), rulesOf(t)
	var done atomic.Bool
	var group sync.WaitGroup
	group.Go(func() {
		for !done.Load() {
			f.server.SetRules(with)
			f.server.SetRules(without)
		}
	})
	connection := client(t)
	for range 200 {
		response, err := connection.Get(f.url)
		if err != nil {
			t.Fatal(err)
		}
		if response.StatusCode != http.StatusOK && response.StatusCode != http.StatusTooManyRequests {
			t.Errorf("answer is %d, want 200 or 429", response.StatusCode)
		}
		_, _ = io.Copy(io.Discard, response.Body)
		response.Body.Close()
	}
	done.Store(true)
	group.Wait()
	f.server.SetRules(with)
	if response, _ := send(t, http.MethodGet, f.url, nil, nil); response.StatusCode != http.StatusTooManyRequests {
		t.Errorf("answer under the last rules is %d, want 429", response.StatusCode)
	}
}

func TestMetricsNameNoClient(t *testing.T) {
	t.Parallel()
	f := start(t, startApp(t, okApp), rulesOf(t, onePolicy()), admitting)
	send(t, http.MethodGet, f.url+"/secret-path", http.Header{"X-Api-Key": {"secret-key"}}, nil)
	for name, want := range map[string]string{
		`penstock_decisions_total{outcome="allowed",policy="web",rule="all"}`: "1",
		`penstock_near_limit_total{policy="web",rule="all"}`:                  "",
		`penstock_ruleset_info{revision="b3f1c0a9d2e4"}`:                      "1",
		"penstock_decision_seconds_count":                                     "1", "penstock_request_seconds_count": "1", "penstock_breaker_open": "0", "penstock_no_rules_total": "0",
	} {
		if got := metric(t, f, name); got != want {
			t.Errorf("%s is %q, want %s", name, got, want)
		}
	}
	_, text := send(t, http.MethodGet, f.adminURL+"/metrics", nil, nil)
	for _, hidden := range []string{"secret", "127.0.0.1"} {
		if strings.Contains(text, hidden) {
			t.Errorf("metrics tell %q", hidden)
		}
	}
}

func TestRulesetAge(t *testing.T) {
	t.Parallel()
	f := startBare(t, startApp(t, okApp), nil, Options{})
	if got := metric(t, f, "penstock_ruleset_age_seconds"); got != "0" {
		t.Errorf("before the first rules the age is %s, want 0", got)
	}
	f.server.SetRules(rulesOf(t))
	set := f.server.gate.confirmed.Load()
	if got := metric(t, f, "penstock_ruleset_age_seconds"); got == "0" || got == "" {
		t.Errorf("with rules the age is %q, want more than 0", got)
	}
	f.server.ConfirmRules()
	if f.server.gate.confirmed.Load() <= set {
		t.Error("confirming the rules did not make them newer")
	}
}

func TestBreakerAndStoreErrorsShow(t *testing.T) {
	t.Parallel()
	f := start(t, startApp(t, okApp), nil, nil)
	f.server.Metrics().SetBreakerOpen(true)
	f.server.Metrics().StoreError("timeout")
	for series, want := range map[string]string{"penstock_breaker_open": "1", `penstock_store_errors_total{kind="timeout"}`: "1"} {
		if got := metric(t, f, series); got != want {
			t.Errorf("%s is %q, want %s", series, got, want)
		}
	}
}

func TestOutcomes(t *testing.T) {
	t.Parallel()
	for want, state := range map[string]limiter.LimitState{
		"allowed": {Allowed: true}, "denied": {}, "local_allowed": {Allowed: true, Source: limiter.Local}, "local_denied": {Source: limiter.Local},
		"store_allowed": {Allowed: true, Source: limiter.StoreAllowed}, "store_denied": {Source: limiter.StoreDenied},
		"shadow_denied": {Shadow: true},
	} {
		if got := outcomeOf(&state); got != want {
			t.Errorf("outcome of %+v is %s, want %s", state, got, want)
		}
	}
}

// metric is the value of one series as the admin listener serves it.
func metric(t *testing.T, f *fixture, series string) string {
	t.Helper()
	_, text := send(t, http.MethodGet, f.adminURL+"/metrics", nil, nil)
	for line := range strings.Lines(text) {
		if value, found := strings.CutPrefix(line, series+" "); found {
			return strings.TrimSpace(value)
		}
	}
	return ""
}

func TestTimeoutsOfTheServer(t *testing.T) {
	t.Parallel()
	server, err := New([]Port{{AppPort: 80, Upstream: "127.0.0.1:80"}}, nil, Options{})
	if err != nil {
		t.Fatal(err)
	}
	got := server.ports[0].front.http1
	if got.ReadHeaderTimeout <= 0 || got.IdleTimeout <= 600*time.Second || got.ReadTimeout != 0 || got.WriteTimeout != 0 {
		t.Errorf("timeouts are header %v, idle %v, read %v, write %v, want the first two only", got.ReadHeaderTimeout, got.IdleTimeout, got.ReadTimeout, got.WriteTimeout)
	}
	if idle := server.transport.http1.IdleConnTimeout; idle <= 0 || idle >= 2*time.Second {
		t.Errorf("idle connections to the app are kept for %v, want less than any app does", idle)
	}
}

func TestNewRefusesUpstreams(t *testing.T) {
	t.Parallel()
	for _, upstream := range []string{"", "app", "ftp://app", "http://", "http://app/path", "http://u:p@app", "http://app?x"} {
		if _, err := New([]Port{{AppPort: 80, Upstream: upstream}}, nil, Options{}); err == nil {
			t.Errorf("upstream %q was taken", upstream)
		}
	}
}

func TestListenTellsOfAnAddressInUse(t *testing.T) {
	t.Parallel()
	taken, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer taken.Close()
	server, err := New([]Port{{Listen: []string{"127.0.0.1:0", taken.Addr().String()}, AppPort: 80, Upstream: "127.0.0.1:80"}}, nil, Options{})
	if err != nil {
		t.Fatal(err)
	}
	if err := server.Run(t.Context()); err == nil || !strings.Contains(err.Error(), taken.Addr().String()) {
		t.Errorf("Run = %v, want an error that names the address", err)
	}
}

// TestCurl drives the path with a client that shares no code with it.
func TestCurl(t *testing.T) {
	t.Parallel()
	curl, err := exec.LookPath("curl")
	if err != nil {
		t.Fatalf("find curl: %v; install it (Debian: apt-get install curl)", err)
	}
	app := startApp(t, func(w http.ResponseWriter, request *http.Request) {
		body, _ := io.ReadAll(request.Body)
		fmt.Fprintf(w, "%s %s %d", request.Method, request.RequestURI, len(body))
	})
	f := start(t, app, rulesOf(t, onePolicy()), admitting)
	large := strings.Repeat("x", 3<<20)
	tests := map[string]struct {
		arguments []string
		stdin     string
		want      string
	}{
		"get":              {arguments: []string{"--path-as-is", f.url + "/a/../b?c;d"}, want: "GET /a/../b?c;d 0"},
		"large upload":     {arguments: []string{"-X", "PUT", "--data-binary", "@-", f.url + "/up"}, stdin: large, want: fmt.Sprintf("PUT /up %d", len(large))},
		"chunked upload":   {arguments: []string{"-H", "Transfer-Encoding: chunked", "--data-binary", "@-", f.url + "/up"}, stdin: large, want: fmt.Sprintf("POST /up %d", len(large))},
		"expect continue":  {arguments: []string{"-H", "Expect: 100-continue", "--data-binary", "@-", f.url + "/up"}, stdin: "four", want: "POST /up 4"},
		"old HTTP":         {arguments: []string{"--http1.0", f.url + "/old"}, want: "GET /old 0"},
		"header of limits": {arguments: []string{"-o", "/dev/null", "-w", "%header{x-ratelimit-remaining}", f.url}, want: "9"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			command := exec.CommandContext(t.Context(), curl, append([]string{"-sS", "--noproxy", "*", "--max-time", "10"}, tc.arguments...)...)
			command.Stdin = strings.NewReader(tc.stdin)
			output, err := command.CombinedOutput()
			if err != nil || string(output) != tc.want {
				t.Errorf("curl printed %q, %v, want %q", output, err, tc.want)
			}
		})
	}
}
