// Copyright The Penstock Authors.
// SPDX-License-Identifier: Apache-2.0

package api

import (
	"fmt"
	"os"
	"testing"

	"github.com/penstock-dev/penstock/test/controlplane"
)

// server is the control plane that all tests of this package share.
var server *controlplane.ControlPlane

func TestMain(m *testing.M) {
	os.Exit(run(m))
}

func run(m *testing.M) (code int) {
	started, err := controlplane.Launch(controlplane.Options{})
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	server = started
	defer func() {
		if err := server.Stop(); err != nil {
			fmt.Fprintln(os.Stderr, err)
			code = 1
		}
	}()
	return m.Run()
}
