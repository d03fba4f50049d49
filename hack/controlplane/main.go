// Copyright The Penstock Authors.
// SPDX-License-Identifier: Apache-2.0

// Command controlplane builds kube-apiserver, kubectl and etcd from the Go modules
// that hack/controlplane pins, into bin/controlplane. Tests and the demo start them.
// It needs Linux, Go and nothing else, and any user may run it, from the
// repository's root.
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"runtime"
	"syscall"

	"github.com/penstock-dev/penstock/hack/controlplane/programs"
)

func main() {
	out := flag.String("out", "bin/controlplane", "folder for the binaries")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := build(ctx, *out); err != nil {
		fmt.Fprintln(os.Stderr, "controlplane:", err)
		os.Exit(1)
	}
}

func build(ctx context.Context, out string) error {
	if runtime.GOOS != "linux" {
		return fmt.Errorf("the control plane runs on Linux only, not on %s", runtime.GOOS)
	}
	list, err := programs.ControlPlane(".")
	if err != nil {
		return err
	}
	return programs.Build(ctx, ".", out, list, os.Stdout)
}
