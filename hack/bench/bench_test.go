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

// TestRunMeasuresEverything runs all of it for moments: the numbers mean nothing, but
// every row and every target has to be there.
func TestRunMeasuresEverything(t *testing.T) {
	document := filepath.Join(t.TempDir(), "performance.md")
	if err := os.WriteFile(document, []byte("Before.\n"+partBegins+"\nold\n"+partEnds+"\nAfter.\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	var out, progress bytes.Buffer
	began := time.Now()
	if err := run(t.Context(), options{Seconds: 0.05, Rounds: 1, Keys: 1000, Markdown: document}, &out, &progress); err != nil {
		t.Fatalf("run: %v; progress:\n%s", err, progress.String())
	}
	t.Logf("ran for %v", time.Since(began))
	var wanted []string
	for _, name := range []string{
		"Penstock TokenBucket", "Penstock LeakyBucket", "Penstock FixedWindow", "Penstock SlidingWindowCounter",
		"Penstock SlidingWindowLog", "Penstock Concurrency",
		"redis_rate v10 (GCRA)", "throttled v2 (GCRA)", "ulule/limiter v3 (fixed window)",
		"bare EVALSHA (go-redis)", "auto-pipelined EVALSHA (rueidis)",
	} {
		for _, callers := range callerCounts {
			wanted = append(wanted, fmt.Sprintf("| %s | %d | ", name, callers))
		}
	}
	wanted = append(wanted,
		"TokenBucket in full calls", "a decision from a lease", "| SlidingWindowLog of one request | ", "| Concurrency, one place held | ", "64 callers | ≥ 2.00× | ",
		"256 callers | ≥ 1.00× | ", "| ≤ 4 µs | ", "| ≥ 250,000/s | ", "| a refusal from memory | ≤ 500 ns | ",
		"| memory: TokenBucket, integer state | ≤ 140 B | ", "| memory: TokenBucket, other state | ≤ 180 B | ",
		"| memory: FixedWindow | ≤ 140 B | ", "| memory: SlidingWindowCounter | ≤ 180 B | ",
		"| memory: SlidingWindowLog, an entry beyond 128 | ≤ 12 B | ")
	for _, words := range wanted {
		if !strings.Contains(out.String(), words) {
			t.Errorf("the output lacks %q", words)
		}
	}
	content, err := os.ReadFile(document)
	if err != nil {
		t.Fatal(err)
	}
	if want := "Before.\n" + partBegins + "\n" + out.String() + partEnds + "\nAfter.\n"; string(content) != want {
		t.Errorf("the document is %q, want %q", content, want)
	}
	if t.Failed() {
		t.Logf("the output:\n%s", out.String())
	}
}

func TestReplaceMeasuredWantsBothLines(t *testing.T) {
	t.Parallel()
	for name, content := range map[string]string{"no lines": "text", "no end": partBegins + "\n", "no begin": partEnds} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			path := filepath.Join(t.TempDir(), "document.md")
			if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
				t.Fatal(err)
			}
			if err := replaceMeasured(path, "new"); err == nil || !strings.Contains(err.Error(), "lacks the lines") {
				t.Errorf("replace: %v, want an error about the lines", err)
			}
		})
	}
}

func TestHistogramKnowsQuantiles(t *testing.T) {
	t.Parallel()
	var h histogram
	for i := range 1000 {
		h.add(time.Duration(i+1) * time.Microsecond)
	}
	for perMille, want := range map[int64]time.Duration{1: time.Microsecond, 500: 500 * time.Microsecond, 990: 990 * time.Microsecond, 1000: time.Millisecond} {
		got := h.quantile(perMille)
		if got > want || got < want-want/steps-time.Nanosecond {
			t.Errorf("%d in a thousand take at most %v, want %v or up to one part in %d less", perMille, got, want, steps)
		}
	}
}

func TestVerdictsOfTargets(t *testing.T) {
	t.Parallel()
	if got := atMost("cost", 4, 4, "µs"); !got.met || got.verdict() != "met" {
		t.Errorf("4 of at most 4 is %q, want met", got.verdict())
	}
	if got := atMost("cost", 4.01, 4, "µs"); got.met || got.verdict() != "**missed**" {
		t.Errorf("4.01 of at most 4 is %q, want missed", got.verdict())
	}
	if got := thousands(1234567.8); got != "1,234,568" {
		t.Errorf("thousands: %s", got)
	}
}
