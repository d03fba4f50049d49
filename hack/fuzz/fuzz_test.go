// Copyright The Penstock Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"errors"
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
