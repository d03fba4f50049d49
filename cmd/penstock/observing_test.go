// Copyright The Penstock Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bufio"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"os/exec"
	"strings"
	"syscall"
	"testing"
	"time"
)

func TestRunTellsWhatItDoes(t *testing.T) {
	t.Parallel()
	server := startRun(t, "rules: [{name: all, limits: [{name: hour, requests: 2, window: 1h}]}]", memoryStore, "--key-labels=web/all")
	for range 5 {
		server.send(ask{})
	}
	admin := strings.TrimSuffix(server.metrics, "/metrics")
	read := func(path string, to any) {
		t.Helper()
		request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, admin+path, nil)
		if err != nil {
			t.Fatal(err)
		}
		client := http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
		answer, err := client.Do(request)
		if err != nil {
			t.Fatal(err)
		}
		defer answer.Body.Close()
		if err := json.NewDecoder(answer.Body).Decode(to); err != nil {
			t.Fatal(err)
		}
	}
	var rules struct {
		Rules []struct {
			Policy    string           `json:"policy"`
			Decisions map[string]int64 `json:"decisions"`
		} `json:"rules"`
	}
	read("/debug/rules?format=json", &rules)
	if len(rules.Rules) != 1 || rules.Rules[0].Policy != "web" || rules.Rules[0].Decisions["allowed"] != 2 || rules.Rules[0].Decisions["denied"] != 3 {
		t.Errorf("/debug/rules tells %+v", rules)
	}
	var store struct {
		Kind string `json:"kind"`
	}
	read("/debug/store?format=json", &store)
	if store.Kind != "memory of this process" {
		t.Errorf("/debug/store tells %+v", store)
	}
	var refused struct {
		Heaviest []struct {
			Identity string `json:"identity"`
			Refused  int64  `json:"refused"`
		} `json:"heaviest"`
	}
	read("/debug/refused?format=json", &refused)
	if len(refused.Heaviest) != 1 || refused.Heaviest[0].Refused != 3 {
		t.Fatalf("/debug/refused tells %+v", refused)
	}
	sample := `penstock_identity_refusals_total{identity="` + refused.Heaviest[0].Identity + `",policy="web",rule="all"}`
	if got := server.count(sample); got != 3 {
		t.Errorf("%s is %v, want 3", sample, got)
	}
}

// TestMemoryKeysAreBounded counts one client more than there is room for.
func TestMemoryKeysAreBounded(t *testing.T) {
	t.Parallel()
	server := startRun(t, "rules: [{name: all, key: [{name: who, from: [{header: {name: X-Who}}]}], limits: [{name: hour, requests: 5, window: 1h}]}]", memoryStore, "--memory-keys=2")
	for _, who := range []string{"a", "b", "c"} {
		server.send(ask{header: map[string]string{"X-Who": who}})
	}
	if got := server.count("penstock_memory_keys_forgotten_total"); got != 1 {
		t.Errorf("%v counters were forgotten, want 1", got)
	}
}

func TestRunEndsWellBySIGTERM(t *testing.T) {
	t.Parallel()
	app := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}))
	t.Cleanup(app.Close)
	policy := writePolicy(t, "rules: [{name: all, limits: [{name: hour, requests: 2, window: 1h}]}]")
	command := exec.CommandContext(t.Context(), "penstock", "run", "--policy", policy, "--upstream", app.URL, "--listen", "127.0.0.1:0")
	command.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	stdout, err := command.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := command.Start(); err != nil {
		t.Fatal(err)
	}
	if _, err := bufio.NewReader(stdout).ReadString('\n'); err != nil {
		t.Fatalf("it did not say where it listens: %v", err)
	}
	began := time.Now()
	if err := command.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	if err := command.Wait(); err != nil {
		t.Errorf("it ended with %v, want exit code 0", err)
	}
	if took := time.Since(began); took > 5*time.Second {
		t.Errorf("it took %v to end without requests", took)
	}
}
