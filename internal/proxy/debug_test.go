// Copyright The Penstock Authors.
// SPDX-License-Identifier: Apache-2.0

package proxy

import (
	"context"
	"encoding/json"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/penstock-dev/penstock/internal/appprobe"
	"github.com/penstock-dev/penstock/internal/ruleset"
)

// byHeader counts requests by the header X-Client.
func byHeader() ruleset.Policy {
	policy := onePolicy()
	policy.Rules[0].Key = []ruleset.KeyPart{{Name: "client", From: []ruleset.KeySource{{Kind: ruleset.SourceHeader, Name: "x-client"}}, OnMissing: ruleset.MissingDeny}}
	return policy
}

// readDebug reads an endpoint as JSON.
func (f *fixture) readDebug(t *testing.T, path string, to any) {
	t.Helper()
	response, body := send(t, "GET", f.adminURL+path, http.Header{"Accept": {"application/json"}}, nil)
	if response.StatusCode != http.StatusOK || response.Header.Get("Content-Type") != "application/json" {
		t.Fatalf("%s answers %s as %s", path, response.Status, response.Header.Get("Content-Type"))
	}
	if err := json.Unmarshal([]byte(body), to); err != nil {
		t.Fatal(err)
	}
}

// TestARefusedClientIsFound goes the way of the one on call: the client tells its
// partition key, and the log, /debug/refused and the metric know it.
func TestARefusedClientIsFound(t *testing.T) {
	t.Parallel()
	app := startApp(t, func(http.ResponseWriter, *http.Request) {})
	f := startBare(t, app, refusing(30*time.Second), Options{RefusalLogsPerSecond: 10, KeyLabels: []RuleName{{"web", "all"}}, KeyLabelSeries: 10})
	f.server.SetRules(rulesOf(t, byHeader()))
	const secret = "secret-of-a-client"
	response, _ := send(t, "GET", f.url+"/private/path", http.Header{"X-Client": {secret}}, nil)
	_, after, found := strings.Cut(response.Header.Get("RateLimit"), ";pk=:")
	key, _, _ := strings.Cut(after, ":")
	if !found || len(key) != partitionKeyLength {
		t.Fatalf("RateLimit is %q, without a partition key", response.Header.Get("RateLimit"))
	}
	send(t, "GET", f.url, http.Header{"X-Client": {secret}}, nil)
	send(t, "GET", f.url, nil, nil) // lacks the header
	var refused refusedView
	f.readDebug(t, "/debug/refused", &refused)
	if len(refused.Heaviest) != 2 {
		t.Fatalf("refused are %+v, want two", refused.Heaviest)
	}
	first, second := refused.Heaviest[0], refused.Heaviest[1]
	if first.Identity != key || first.Refused != 2 || first.AtLeast != 2 || first.Policy+"/"+first.Rule+"/"+first.Limit != "web/all/minute" || time.Since(first.Last) > time.Minute {
		t.Errorf("the heaviest is %+v, want %s with 2", first, key)
	}
	if second.Identity != "" || second.Limit != "" || second.Refused != 1 {
		t.Errorf("the other is %+v, want one without identity", second)
	}
	if series := identitySeries(t, f.server.observing.labels); series["web/all/"+key] != 2 || len(series) != 1 {
		t.Errorf("series are %v", series)
	}
	_, text := send(t, "GET", f.adminURL+"/debug/refused", nil, nil)
	if err := f.stop(); err != nil {
		t.Fatal(err)
	}
	var logged []map[string]any
	for _, line := range lines(t, f.logs) {
		if line["msg"] == "Refused a request" {
			logged = append(logged, line)
		}
	}
	if len(logged) != 3 || logged[0]["identity"] != key || logged[0]["status"] != 429.0 || logged[0]["retryAfter"] != "30" || logged[2]["identity"] != "" {
		t.Errorf("logged are %v", logged)
	}
	for _, told := range []string{text, f.logs.String()} {
		if !strings.Contains(told, key) {
			t.Errorf("%q does not tell %s", told, key)
		}
		for _, hidden := range []string{secret, "127.0.0.1:", "/private"} {
			if strings.Contains(told, hidden) {
				t.Errorf("%q tells %q", told, hidden)
			}
		}
	}
}

func TestDebugRules(t *testing.T) {
	t.Parallel()
	app := startApp(t, func(http.ResponseWriter, *http.Request) {})
	policy := onePolicy()
	policy.Generation = 3
	policy.Rules = append(policy.Rules, ruleset.Rule{Name: "tried", Shadow: true, Limits: []ruleset.Limit{
		{Name: "at-once", Algorithm: ruleset.Concurrency, Requests: 5, Burst: 5, Key: "BBBBBBBB"},
		{Name: "day", Algorithm: ruleset.FixedWindow, Requests: 9, Burst: 9, Calendar: &ruleset.Calendar{Period: ruleset.PeriodDay, TimeZone: "UTC"}, Key: "CCCCCCCC"},
	}})
	f := startBare(t, app, admitting, Options{NoRulesWait: time.Hour})
	var view rulesView
	f.readDebug(t, "/debug/rules", &view)
	if view.State != "waiting for the first rules" || len(view.Rules) != 0 || view.Since != nil {
		t.Errorf("before there are rules: %+v", view)
	}
	rules := rulesOf(t, policy)
	rules.Sequence = 12
	f.server.SetRules(rules)
	send(t, "GET", f.url, nil, nil)
	f.readDebug(t, "/debug/rules", &view)
	if view.State != "ok" || view.Revision != "b3f1c0a9d2e4" || view.Sequence != 12 || view.Namespace != "shop" || len(view.Rules) != 2 {
		t.Fatalf("view is %+v", view)
	}
	if all := view.Rules[0]; all.Mode != "Enforce" || all.Decisions[outcomeAllowed] != 1 || all.Limits[0] != "minute 10 per minute (FixedWindow)" || all.PolicyGeneration != 3 {
		t.Errorf("rule all is %+v", all)
	}
	_, text := send(t, "GET", f.adminURL+"/debug/rules", nil, nil)
	for _, want := range []string{"b3f1c0a9d2e4", "Shadow", "at-once 5 at once (Concurrency); day 9 per day in UTC (FixedWindow)", "allowed 1"} {
		if !strings.Contains(text, want) {
			t.Errorf("text lacks %q:\n%s", want, text)
		}
	}
}

func TestDebugStore(t *testing.T) {
	t.Parallel()
	app := startApp(t, func(http.ResponseWriter, *http.Request) {})
	f := startBare(t, app, admitting, Options{StoreState: func() StoreState { return StoreState{Kind: "Redis Cluster", BreakerOpen: true, CorrectionsLost: 7} }})
	f.server.metrics.StoreError("timeout")
	var view storeView
	f.readDebug(t, "/debug/store", &view)
	if !view.BreakerOpen || view.CorrectionsLost != 7 || view.Errors["timeout"] != 1 {
		t.Errorf("view is %+v", view)
	}
	_, text := send(t, "GET", f.adminURL+"/debug/store", nil, nil)
	if !strings.Contains(text, "Redis Cluster") || !strings.Contains(text, "open: the store failed") || !strings.Contains(text, "timeout 1") {
		t.Errorf("text is\n%s", text)
	}
	if _, index := send(t, "GET", f.adminURL+"/debug/", nil, nil); !strings.Contains(index, "/debug/refused") {
		t.Errorf("index is %q", index)
	}
}

func TestDebugProfile(t *testing.T) {
	t.Parallel()
	f := startBare(t, startApp(t, func(http.ResponseWriter, *http.Request) {}), admitting, Options{})
	if response, body := send(t, "GET", f.adminURL+"/debug/pprof/heap?debug=1", nil, nil); response.StatusCode != http.StatusOK || !strings.HasPrefix(body, "heap profile") {
		t.Errorf("a profile of the heap is %s: %.80s", response.Status, body)
	}
}

func TestDebugIsOnLoopbackOnly(t *testing.T) {
	t.Parallel()
	cases := map[string]struct {
		local, remote, host string
		want                int
	}{
		"loopback":                  {local: "127.0.0.1:15420", remote: "127.0.0.1:5000", host: "127.0.0.1:15420", want: http.StatusOK},
		"by name":                   {local: "127.0.0.1:15420", remote: "127.0.0.1:5000", host: "localhost:15420", want: http.StatusOK},
		"IPv6":                      {local: "[::1]:15420", remote: "[::1]:5000", host: "[::1]:15420", want: http.StatusOK},
		"without port":              {local: "[::1]:80", remote: "[::1]:5000", host: "[::1]", want: http.StatusOK},
		"the pod's address":         {local: "10.0.0.5:15420", remote: "127.0.0.1:5000", host: "127.0.0.1", want: http.StatusNotFound},
		"from elsewhere":            {local: "127.0.0.1:15420", remote: "10.0.0.9:5000", host: "127.0.0.1", want: http.StatusNotFound},
		"a web page by its name":    {local: "127.0.0.1:15420", remote: "127.0.0.1:5000", host: "evil.example:15420", want: http.StatusNotFound},
		"a name that looks like it": {local: "127.0.0.1:15420", remote: "127.0.0.1:5000", host: "127.0.0.1.evil.example", want: http.StatusNotFound},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			local, err := net.ResolveTCPAddr("tcp", tc.local)
			if err != nil {
				t.Fatal(err)
			}
			request := httptest.NewRequest(http.MethodGet, "/debug/rules", nil)
			request = request.WithContext(context.WithValue(request.Context(), http.LocalAddrContextKey, local))
			request.RemoteAddr, request.Host = tc.remote, tc.host
			recorder := httptest.NewRecorder()
			onLoopback(func(http.ResponseWriter, *http.Request) {})(recorder, request)
			if recorder.Code != tc.want {
				t.Errorf("status %d, want %d", recorder.Code, tc.want)
			}
		})
	}
}

// TestProbesAreServed asks while every request is refused: probes are not limited.
func TestProbesAreServed(t *testing.T) {
	t.Parallel()
	app := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/ready" {
			w.WriteHeader(http.StatusInternalServerError)
		}
	}))
	t.Cleanup(app.Close)
	port := app.Listener.Addr().(*net.TCPAddr).Port
	prober := appprobe.NewProber("127.0.0.1", appprobe.Set{
		"web/readiness": {HTTPGet: &appprobe.HTTPGet{Port: port, Path: "/ready"}},
		"web/liveness":  {HTTPGet: &appprobe.HTTPGet{Port: port, Path: "/live"}},
	})
	f := startBare(t, app.URL, refusing(time.Hour), Options{Prober: prober})
	f.server.SetRules(rulesOf(t, onePolicy()))
	for path, want := range map[string]int{"/probe/web/readiness": 200, "/probe/web/liveness": 503, "/probe/web": 404} {
		if response, _ := send(t, "GET", f.adminURL+path, nil, nil); response.StatusCode != want {
			t.Errorf("%s answers %s, want %d", path, response.Status, want)
		}
	}
	if response, _ := send(t, "GET", f.url+"/ready", nil, nil); response.StatusCode != http.StatusTooManyRequests {
		t.Errorf("the request path answers %s, want 429", response.Status)
	}
}

// TestTraceContextPasses holds the fields of W3C Trace Context to what was sent.
func TestTraceContextPasses(t *testing.T) {
	t.Parallel()
	want := map[string]string{
		"Traceparent": "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01",
		"Tracestate":  "rojo=00f067aa0ba902b7,congo=t61rcWkgMzE", "Baggage": "user=a%20b;p=1", "Traceresponse": "00-1-2-01",
	}
	seen := make(chan http.Header, 1)
	app := startApp(t, func(w http.ResponseWriter, r *http.Request) {
		seen <- r.Header
		w.Header().Set("Traceresponse", want["Traceresponse"])
	})
	f := start(t, app, rulesOf(t, onePolicy()), admitting)
	header := make(http.Header)
	for name, value := range want {
		header.Set(name, value)
	}
	response, _ := send(t, "GET", f.url, header, nil)
	got := <-seen
	for name, value := range want {
		if values := got[name]; len(values) != 1 || values[0] != value {
			t.Errorf("the app saw %s %q, want %q", name, values, value)
		}
	}
	if response.Header.Get("Traceresponse") != want["Traceresponse"] {
		t.Errorf("the client got Traceresponse %q", response.Header.Get("Traceresponse"))
	}
}

// TestProfilesEndWithTheServer has a profile be under way for longer than the server
// may take to end. It is one of the heap: of the CPU's there can be but one in a process.
func TestProfilesEndWithTheServer(t *testing.T) {
	t.Parallel()
	app := startApp(t, func(http.ResponseWriter, *http.Request) {})
	f := startBare(t, app, admitting, Options{Bounds: Bounds{ShutdownTimeout: time.Minute}})
	profiled := make(chan struct{})
	go func() {
		defer close(profiled)
		request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, f.adminURL+"/debug/pprof/heap?seconds=600", nil)
		if err != nil {
			t.Error(err)
			return
		}
		if response, err := client(t).Do(request); err == nil {
			_ = response.Body.Close()
		}
	}()
	for began := time.Now(); ; {
		if _, running := send(t, "GET", f.adminURL+"/debug/pprof/goroutine?debug=1", nil, nil); strings.Contains(running, "serveDeltaProfile") {
			break
		}
		if time.Since(began) > patience {
			t.Fatal("the profile did not begin")
		}
	}
	began := time.Now()
	if err := f.stop(); err != nil {
		t.Fatal(err)
	}
	if took := time.Since(began); took > patience/2 {
		t.Errorf("the profile held up the end for %v", took)
	}
	<-profiled
}
