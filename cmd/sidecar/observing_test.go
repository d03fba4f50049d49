// Copyright The Penstock Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"
)

// extraPort is a port that a sidecar intercepts for an app of the test.
const extraPort = 15490

// startBefore runs a sidecar with a rules file in front of an app of the test.
func startBefore(t *testing.T, handler http.HandlerFunc, more ...string) *pod {
	t.Helper()
	app := httptest.NewServer(handler)
	t.Cleanup(app.Close)
	rules := filepath.Join(t.TempDir(), "rules.json")
	writeJSON(t, rules, limited(3))
	flags := []string{
		"--rules=" + rules, "--app-host=127.0.0.1",
		fmt.Sprintf("--port=%d=%d", extraPort, app.Listener.Addr().(*net.TCPAddr).Port),
	}
	return newPod(t).start(t, append(flags, more...)...).awaitReady(t)
}

// read reads from the admin port, as JSON where it is asked for into a value.
func (p *pod) read(t *testing.T, path string, to any) string {
	t.Helper()
	response, err := p.try(t.Context(), adminPort, path)
	if err != nil {
		t.Fatal(err)
	}
	text, _ := io.ReadAll(response.Body)
	if to != nil {
		if err := json.Unmarshal(text, to); err != nil {
			t.Fatalf("%s answers %s: %v\n%s", path, response.Status, err, text)
		}
	}
	return string(text)
}

func TestSIGTERMCompletesAnswersUnderWay(t *testing.T) {
	t.Parallel()
	arrived, release := make(chan struct{}), make(chan struct{})
	p := startBefore(t, func(w http.ResponseWriter, _ *http.Request) {
		close(arrived)
		<-release
		_, _ = io.WriteString(w, "complete")
	})
	answered := make(chan string, 1)
	go func() {
		response, err := p.try(t.Context(), extraPort, "/")
		if err != nil {
			answered <- err.Error()
			return
		}
		body, _ := io.ReadAll(response.Body)
		answered <- response.Status + " " + string(body)
	}()
	<-arrived
	if err := p.command.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	eventually(t, func() error {
		if state := p.read(t, "/readyz", nil); !strings.Contains(state, "draining") {
			return fmt.Errorf("/readyz says %q", state)
		}
		return nil
	})
	close(release)
	if got := <-answered; got != "200 OK complete" {
		t.Errorf("the answer under way was %q", got)
	}
	if err := <-p.ended; err != nil {
		t.Errorf("the sidecar ended with %v, want exit status 0", err)
	}
}

func TestSIGTERMEndsWithinTheShutdownTimeout(t *testing.T) {
	t.Parallel()
	arrived := make(chan struct{})
	p := startBefore(t, func(_ http.ResponseWriter, r *http.Request) {
		close(arrived)
		<-r.Context().Done()
	}, "--shutdown-timeout=300ms")
	go func() { _, _ = p.try(t.Context(), extraPort, "/") }()
	<-arrived
	began := time.Now()
	if err := p.stop(t); err != nil {
		t.Errorf("the sidecar ended with %v, want exit status 0", err)
	}
	if took := time.Since(began); took < 300*time.Millisecond || took > 5*time.Second {
		t.Errorf("the sidecar ended after %v, want a little over 300 ms", took)
	}
}

func TestSidecarProbesItsApp(t *testing.T) {
	t.Parallel()
	var broken atomic.Bool
	app := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if broken.Load() || r.URL.Path != "/ready" {
			w.WriteHeader(http.StatusInternalServerError)
		}
	}))
	t.Cleanup(app.Close)
	port := app.Listener.Addr().(*net.TCPAddr).Port
	config := filepath.Join(t.TempDir(), "sidecar.json")
	write(t, config, fmt.Sprintf(`{"probes": {"web/readiness": {"httpGet": {"port": %d, "path": "/ready"}}, "web/startup": {"tcpSocket": {"port": %d}}}}`, port, port))
	p := startBefore(t, func(http.ResponseWriter, *http.Request) {}, "--config="+config)
	// Probes are neither limited nor counted.
	expectProbe := func(name string, want int) {
		t.Helper()
		response, err := p.try(t.Context(), adminPort, "/probe/"+name)
		if err != nil || response.StatusCode != want {
			t.Errorf("probe %s: %v, %v; want %d", name, response.Status, err, want)
		}
	}
	for range 5 {
		expectProbe("web/readiness", 200)
	}
	expectProbe("web/startup", 200)
	expectProbe("web/liveness", 404)
	broken.Store(true)
	expectProbe("web/readiness", 503)
	expectProbe("web/startup", 200)
	app.Close()
	expectProbe("web/startup", 503)
}

func TestSidecarTellsWhatItDoes(t *testing.T) {
	t.Parallel()
	server, rules := newStore(t)
	first := publish(t, rules, limited(2))
	p := newPod(t).mount(t, settingsOf(server)).start(t, "--store="+t.TempDir(), "--key-labels=web/all")
	var before struct {
		Kind string `json:"kind"`
	}
	eventually(t, func() error {
		_, err := p.try(t.Context(), adminPort, "/healthz")
		return err
	})
	p.read(t, "/debug/store?format=json", &before)
	if !strings.Contains(before.Kind, "none yet") {
		t.Errorf("without settings the store is %q", before.Kind)
	}
	if err := p.stop(t); err != nil {
		t.Fatal(err)
	}
	p = newPod(t).mount(t, settingsOf(server))
	p.start(t, "--store="+p.secret, "--key-labels=web/all", "--refusal-logs-per-second=1")
	p.awaitAck(t, rules, ofSequence(first.Sequence))
	expectStatuses(t, p, 5, map[int]int{200: 2, 429: 3})
	var told struct {
		Sequence int64  `json:"sequence"`
		Revision string `json:"revision"`
		Rules    []struct {
			Decisions map[string]int64 `json:"decisions"`
		} `json:"rules"`
	}
	p.read(t, "/debug/rules?format=json", &told)
	if told.Sequence != first.Sequence || told.Revision != first.Revision || told.Rules[0].Decisions["allowed"] != 2 || told.Rules[0].Decisions["denied"] != 3 {
		t.Errorf("/debug/rules tells %+v", told)
	}
	p.read(t, "/debug/store?format=json", &before)
	if before.Kind != "Redis, Standalone" {
		t.Errorf("the store is %q", before.Kind)
	}
	if refused := p.read(t, "/debug/refused", nil); !strings.Contains(refused, "web/all/yearly") {
		t.Errorf("/debug/refused tells\n%s", refused)
	}
	if got := p.metric(t, "penstock_identity_refusals_total", `rule="all"`); got != 3 {
		t.Errorf("penstock_identity_refusals_total is %v, want 3", got)
	}
	if logged := strings.Count(p.log.String(), "Refused a request"); logged < 1 || logged > 2 {
		t.Errorf("%d refusals were logged, want one for each second", logged)
	}
	// What docs/operating.md lists is there.
	metrics := p.read(t, "/metrics", nil)
	for _, name := range []string{
		"penstock_decisions_total", "penstock_decision_seconds_count", "penstock_request_seconds_count", "penstock_breaker_open", "penstock_ruleset_info",
		"penstock_ruleset_age_seconds", "penstock_no_rules_total", "penstock_corrections_lost_total", "penstock_memory_keys_forgotten_total",
	} {
		if !strings.Contains(metrics, "\n"+name) {
			t.Errorf("/metrics has no %s", name)
		}
	}
}
