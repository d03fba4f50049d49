// Copyright The Penstock Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

func TestShareKeepsTheTime(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		total          time.Duration
		cores, targets int
		want           time.Duration
	}{
		"two cores":     {time.Minute, 2, 10, 12 * time.Second},
		"one core":      {time.Minute, 1, 10, 6 * time.Second},
		"never nothing": {time.Second, 1, 100, least},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if got := share(tc.total, tc.cores, tc.targets); got != tc.want {
				t.Errorf("share() = %v, want %v", got, tc.want)
			}
		})
	}
}

func TestRunEndsByAnInterrupt(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		script string
		fails  bool
	}{
		"found nothing in its time":     {script: "trap 'echo PASS; exit 0' INT; while :; do sleep 0.05; done"},
		"found something at the end":    {script: "trap 'echo FAIL; exit 1' INT; while :; do sleep 0.05; done", fails: true},
		"found something straight away": {script: "echo FAIL; exit 1", fails: true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			binary := filepath.Join(t.TempDir(), "x.test")
			if err := os.WriteFile(binary, []byte("#!/bin/sh\n"+tc.script+"\n"), 0o700); err != nil {
				t.Fatal(err)
			}
			output, err := target{name: "FuzzX", binary: binary, folder: t.TempDir()}.run(t.Context(), 300*time.Millisecond)
			if (err != nil) != tc.fails {
				t.Errorf("run() = %v, want an error: %v; printed %q", err, tc.fails, output)
			}
		})
	}
}

func TestVerdictShowsAFailureInFull(t *testing.T) {
	t.Parallel()
	const output = "fuzz: elapsed: 0s, gathering\nfuzz: elapsed: 2s, execs: 5\nPASS\n"
	found := target{name: "FuzzX", pkg: "x"}
	if got := verdict(found, output, nil); strings.Count(got, "\n") != 1 || !strings.Contains(got, "execs: 5") {
		t.Errorf("verdict of what passed = %q, want one line with the last count", got)
	}
	if got := verdict(found, output, errors.New("exit status 1")); !strings.Contains(got, "FAIL FuzzX") || !strings.Contains(got, output) {
		t.Errorf("verdict of what failed = %q, want all of its output", got)
	}
}

func TestDeclarationOfAFuzzFunction(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]bool{
		"func FuzzX(f *testing.F) {": true, "x\nfunc Fuzz(f *testing.F)": true, "// func FuzzX(": false, "func fuzzX(": false,
	} {
		if got := declaration.MatchString(text); got != want {
			t.Errorf("%q declares a fuzz function: %v, want %v", text, got, want)
		}
	}
}
