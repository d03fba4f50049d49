// Copyright The Penstock Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestEveryFaultHasItsPlace finds out early that code has moved on under a fault.
func TestEveryFaultHasItsPlace(t *testing.T) {
	t.Parallel()
	names := map[string]bool{}
	for _, f := range faults {
		text, err := os.ReadFile(filepath.Join("..", "..", f.file))
		if err != nil {
			t.Errorf("%s: %v", f.name, err)
			continue
		}
		if count := strings.Count(string(text), f.old); count != 1 {
			t.Errorf("%s: %s has %d places %q, want one", f.name, f.file, count, f.old)
		}
		if names[f.name] || f.old == f.new {
			t.Errorf("%s: named twice, or no fault", f.name)
		}
		names[f.name] = true
	}
}
