// Copyright The Penstock Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"strings"
	"testing"
)

// TestAFileOfManyValues has each document of a file become as large by aliases as one may
// be: together they must not keep anybody waiting.
func TestAFileOfManyValues(t *testing.T) {
	t.Parallel()
	const bombs = 100
	bomb := policyHead + "spec:\n  rules:\n  - &a {name: " + strings.Repeat("x", 9) + ", key: [&k {from: [{header: {name: x}}]}, *k, *k, *k, *k, *k, *k, *k]}\n" +
		strings.Repeat("  - *a\n", 4000) + "---\n"
	documents, problems := parse("bombs.yaml", []byte(strings.Repeat(bomb, bombs)))
	if len(documents) == 0 || len(documents) > 20 {
		t.Errorf("%d of %d documents were read, want no more than have 1,000,000 values together", len(documents), bombs)
	}
	if len(problems) != 1 || !strings.Contains(problems[0].Error(), "more than 1000000 values: write several files, and fewer aliases") {
		t.Errorf("the problems are %v", problems)
	}
}
