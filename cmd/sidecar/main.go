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
)

// version is stamped when the binary is built.
var version = "dev"

const usageText = `Usage:
  sidecar [flags]   enforce rate limits in front of the app of this pod
  sidecar drain     tell the sidecar of this pod that the pod ends; returns at once

Environment: POD_NAME, POD_NAMESPACE, POD_UID, POD_IPS (comma-separated);
GOMEMLIMIT, absent: nine tenths of the container's memory limit; GOMAXPROCS,
absent: the container's CPU limit.

Exit status: 0 ended by SIGTERM or SIGINT, once answers under way are complete;
1 it could not run; 2 a flag or a setting of the file is wrong.
`

func main() {
	os.Exit(run(os.Args[1:], os.Getenv, os.Stdout, os.Stderr))
}

// run returns the exit status: 0 done, 1 failed, 2 called wrongly.
func run(arguments []string, getenv func(string) string, stdout, stderr io.Writer) int {
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM, syscall.SIGINT)
	defer stop()
	if len(arguments) > 0 && arguments[0] == "drain" {
		return report(stderr, askToDrain(ctx, getenv("POD_UID")))
	}
	flags, err := parseFlags(arguments, stderr)
	switch {
	case errors.Is(err, flag.ErrHelp):
		return 0
	case err != nil:
		fmt.Fprintf(stderr, "sidecar: %v\nRun 'sidecar --help' for the flags.\n", err)
		return 2
	case flags.version:
		fmt.Fprintf(stdout, "sidecar %s\n", version)
		return 0
	}
	pod, err := readPod(getenv, flags)
	if err != nil {
		return report(stderr, err)
	}
	log := newLogger(stderr, flags.logLevel)
	collectLess(getenv)
	limitMemory(os.DirFS("/"), getenv, log)
	return report(stderr, serve(ctx, flags, pod, log))
}

func report(stderr io.Writer, err error) int {
	if err != nil {
		fmt.Fprintf(stderr, "sidecar: %v\n", err)
		return 1
	}
	return 0
}
