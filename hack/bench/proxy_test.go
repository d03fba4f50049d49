// Copyright The Penstock Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// TestMain lets the test binary be the bare reverse proxy, as the program is.
func TestMain(m *testing.M) {
	if len(os.Args) == 4 && os.Args[1] == reverseProxyRole {
		fmt.Fprintln(os.Stderr, serveReverseProxy(os.Args[2], os.Args[3]))
		os.Exit(1)
	}
	os.Exit(m.Run())
}

// TestRunProxiesMeasuresEverything runs all of it for moments: the numbers mean
// nothing, but every row and every target has to be there.
func TestRunProxiesMeasuresEverything(t *testing.T) {
	document := filepath.Join(t.TempDir(), "performance.md")
	if err := os.WriteFile(document, []byte("Before.\n"+proxyPartBegins+"\nold\n"+proxyPartEnds+"\nAfter.\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	var out, progress bytes.Buffer
	if err := runProxies(t.Context(), options{Seconds: 0.05, Rounds: 1, Root: "../..", Markdown: document}, &out, &progress); err != nil {
		t.Fatalf("run: %v; progress:\n%s", err, progress.String())
	}
	for _, row := range proxyRows() {
		if !strings.Contains(out.String(), "| "+row.name+" | ") {
			t.Errorf("the output lacks the row %q", row.name)
		}
	}
	for _, words := range []string{"| no rule over a bare ReverseProxy, req/s | ≥ 0.95× | ", "| memory of the sidecar at its start | ≤ 18 MB | "} {
		if !strings.Contains(out.String(), words) {
			t.Errorf("the output lacks %q", words)
		}
	}
	text, err := os.ReadFile(document)
	if want := "Before.\n" + proxyPartBegins + "\n" + out.String() + proxyPartEnds + "\nAfter.\n"; err != nil || string(text) != want {
		t.Errorf("the document is\n%s\n%v, want what was printed in its place", text, err)
	}
	if t.Failed() {
		t.Logf("the output:\n%s", out.String())
	}
}

func TestProxyTargetsCompareRows(t *testing.T) {
	t.Parallel()
	row := func(perSecond float64, p50, p99 time.Duration) proxySample {
		return proxySample{perSecond: perSecond, oneP50: p50, oneP99: p99, idleBytes: 10 << 20, quietBytes: 20 << 20}
	}
	good := proxyRound{
		evalsha: sample{p50: 20 * time.Microsecond, p99: 60 * time.Microsecond},
		rows: map[string]proxySample{
			rowReverseProxy: row(1000, 100*time.Microsecond, 200*time.Microsecond), rowNoRule: row(950, 110*time.Microsecond, 250*time.Microsecond),
			rowOneRule: row(850, 130*time.Microsecond, 330*time.Microsecond), rowLeased: row(920, 0, 0), rowRefused: row(2000, 0, 0),
		},
	}
	for _, got := range (&proxyFindings{rounds: []proxyRound{good}}).targets() {
		if !got.met {
			t.Errorf("missed: %+v", got)
		}
	}
	bad := proxyRound{rows: map[string]proxySample{
		rowReverseProxy: row(1000, 100*time.Microsecond, 200*time.Microsecond), rowNoRule: row(940, 130*time.Microsecond, 600*time.Microsecond),
		rowOneRule: row(100, time.Millisecond, time.Second), rowLeased: row(800, 0, 0), rowRefused: row(800, 0, 0),
	}}
	for i, got := range (&proxyFindings{rounds: []proxyRound{bad, bad, good}}).targets()[:8] {
		if got.met {
			t.Errorf("target %d is met: %+v", i, got)
		}
	}
}

// TestProxyTargetsCompareWithinARound has a machine that was half as fast in two of three
// rounds, as one row after another met it: the medians of the rows would say 0.50.
func TestProxyTargetsCompareWithinARound(t *testing.T) {
	t.Parallel()
	round := func(bare, none float64) proxyRound {
		return proxyRound{rows: map[string]proxySample{rowReverseProxy: {perSecond: bare}, rowNoRule: {perSecond: none}}}
	}
	found := &proxyFindings{rounds: []proxyRound{round(1000, 970), round(1000, 485), round(500, 485)}}
	if got := found.targets()[0]; got.measured != "0.97× (0.48 to 0.97)" || !got.met {
		t.Errorf("no rule over a bare ReverseProxy is %+v, want 0.97× of 0.48 to 0.97", got)
	}
}
