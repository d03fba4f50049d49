// Copyright The Penstock Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"

	ctrl "sigs.k8s.io/controller-runtime"
)

// version is stamped when the binary is built.
var version = "dev"

func main() {
	os.Exit(run(os.Args[1:], os.Getenv, os.Stdout, os.Stderr))
}

// run returns the exit status.
func run(arguments []string, getenv func(string) string, stdout, stderr io.Writer) int {
	options, err := parseFlags(arguments, getenv, stderr)
	switch {
	case errors.Is(err, flag.ErrHelp):
		return 0
	case err != nil:
		fmt.Fprintf(stderr, "manager: %v\nRun 'manager --help' for the flags.\n", err)
		return 2
	case options.version:
		fmt.Fprintf(stdout, "manager %s\n", version)
		return 0
	}
	useLogger(stderr, options.logLevel)
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM, syscall.SIGINT)
	defer stop()
	// A second signal ends the process at once.
	context.AfterFunc(ctx, stop)
	if err := operate(ctx, options); err != nil {
		ctrl.Log.Error(err, "Operator failed")
		return 1
	}
	return 0
}
