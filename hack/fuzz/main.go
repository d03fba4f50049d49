// Copyright The Penstock Authors.
// SPDX-License-Identifier: Apache-2.0

// Command fuzz runs every fuzz target of the module for a moment, as many at once as
// there are cores, and ends with what failed. Targets are found by asking the test
// binaries, so a new one is run without being named anywhere.
//
//	fuzz [-seconds S] [-only REGEXP]
package main

import (
	"context"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"regexp"
	"runtime"
	"syscall"
	"time"
)

// least is how long each target runs at least: less finds nothing.
const least = 2 * time.Second

func main() {
	seconds := flag.Float64("seconds", 60, "how long all targets together may take, once they are built")
	only := flag.String("only", "", "`REGEXP` of the targets to run, such as ReadPath; empty is all")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := run(ctx, time.Duration(*seconds*float64(time.Second)), *only, os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "fuzz:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, total time.Duration, only string, out io.Writer) error {
	wanted, err := regexp.Compile(only)
	if err != nil {
		return fmt.Errorf("flag -only: %w", err)
	}
	scratch, err := os.MkdirTemp("", "penstock-fuzz-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(scratch)
	targets, err := find(ctx, scratch, wanted)
	if err != nil {
		return err
	}
	if len(targets) == 0 {
		return fmt.Errorf("no fuzz target matches %q", only)
	}
	cores := runtime.GOMAXPROCS(0)
	each := share(total, cores, len(targets))
	fmt.Fprintf(out, "%d targets for %v each, %d at once\n", len(targets), each, cores)
	failed := runAll(ctx, targets, cores, each, out)
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	if failed > 0 {
		return fmt.Errorf("%d of %d targets failed; the inputs are in testdata/fuzz of their packages: mend what they show, and commit them", failed, len(targets))
	}
	fmt.Fprintf(out, "%d targets passed\n", len(targets))
	return nil
}

// share is how long each target may run, so that all end in time.
func share(total time.Duration, cores, targets int) time.Duration {
	each := total * time.Duration(cores) / time.Duration(targets)
	return max(each.Round(100*time.Millisecond), least)
}
