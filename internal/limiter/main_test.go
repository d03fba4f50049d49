// Copyright The Penstock Authors.
// SPDX-License-Identifier: Apache-2.0

package limiter

import (
	"flag"
	"fmt"
	"os"
	"testing"
)

// TestMain keeps rapid from writing failures into the source folder: the output
// has the seed.
func TestMain(m *testing.M) {
	if err := flag.Set("rapid.nofailfile", "true"); err != nil {
		fmt.Fprintln(os.Stderr, "configure rapid:", err)
		os.Exit(2)
	}
	os.Exit(m.Run())
}
