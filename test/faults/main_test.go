// Copyright The Penstock Authors.
// SPDX-License-Identifier: Apache-2.0

package faults

import (
	"os"
	"testing"
)

func TestMain(m *testing.M) {
	if text := os.Getenv(workerOptions); text != "" {
		os.Exit(beWorker(text, os.Stdin, os.Stdout))
	}
	os.Exit(m.Run())
}
