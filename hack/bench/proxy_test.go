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
	row := func(name string, perSecond float64, p50, p99 time.Duration) proxyRow {
		return proxyRow{name, proxySample{perSecond: perSecond, oneP50: p50, oneP99: p99, idleBytes: 10 << 20, quietBytes: 20 << 20}}
	}
	met := &proxyFindings{
		evalsha: sample{p50: 20 * time.Microsecond, p99: 60 * time.Microsecond},
		rows: []proxyRow{
			row(rowReverseProxy, 1000, 100*time.Microsecond, 200*time.Microsecond), row(rowNoRule, 950, 110*time.Microsecond, 250*time.Microsecond),
			row(rowOneRule, 850, 130*time.Microsecond, 330*time.Microsecond), row(rowLeased, 920, 0, 0), row(rowRefused, 2000, 0, 0),
		},
	}
	for _, got := range met.targets() {
		if !got.met {
			t.Errorf("missed: %+v", got)
		}
	}
	missed := &proxyFindings{rows: []proxyRow{
		row(rowReverseProxy, 1000, 100*time.Microsecond, 200*time.Microsecond), row(rowNoRule, 940, 130*time.Microsecond, 600*time.Microsecond),
		row(rowOneRule, 100, time.Millisecond, time.Second), row(rowLeased, 800, 0, 0), row(rowRefused, 800, 0, 0),
	}}
	for i, got := range missed.targets()[:8] {
		if got.met {
			t.Errorf("target %d is met: %+v", i, got)
		}
	}
}
