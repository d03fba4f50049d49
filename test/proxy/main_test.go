// Copyright The Penstock Authors.
// SPDX-License-Identifier: Apache-2.0

package proxy

import (
	"os"
	"testing"

	"github.com/penstock-dev/penstock/test/proxyrun"
)

func TestMain(m *testing.M) {
	if name := os.Getenv(interopCase); name != "" {
		runInteropCase(name)
		return
	}
	os.Exit(proxyrun.Main(m))
}
