// Copyright The Penstock Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"sync"
	"time"
)

// patience is how long a target may take to end once it was interrupted: it then still
// writes down what it found.
const patience = 30 * time.Second

// runAll runs the targets, so many at once, and returns how many failed.
func runAll(ctx context.Context, targets []target, cores int, each time.Duration, out io.Writer) int {
	queue := make(chan target, len(targets))
	for _, t := range targets {
		queue <- t
	}
	close(queue)
	var mu sync.Mutex
	failed := 0
	var workers sync.WaitGroup
	for range cores {
		workers.Go(func() {
			for t := range queue {
				output, err := t.run(ctx, each)
				mu.Lock()
				if err != nil {
					failed++
				}
				fmt.Fprint(out, verdict(t, output, err))
				mu.Unlock()
			}
		})
	}
	workers.Wait()
	return failed
}

// run fuzzes one target on one core. It begins with the seeds alone: what former runs
// have left in the build cache may take longer to replay than there is time.
//
// The time is ended from outside, by an interrupt. A -test.fuzztime races with the
// workers' end and now and then fails a target that found nothing, with "context
// deadline exceeded" (https://go.dev/issue/75804, mended in Go 1.27); an interrupt does
// not.
func (t target) run(ctx context.Context, each time.Duration) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, each)
	defer cancel()
	command := exec.CommandContext(ctx, t.binary,
		"-test.run=^$", "-test.fuzz=^"+t.name+"$", "-test.parallel=1",
		// Shortening each input that reaches new code takes a minute by default.
		"-test.fuzzminimizetime=20x",
		"-test.fuzzcachedir="+t.binary+".inputs")
	command.Dir = t.folder
	command.Cancel = func() error { return command.Process.Signal(os.Interrupt) }
	command.WaitDelay = patience
	output, err := command.CombinedOutput()
	if errors.Is(err, context.DeadlineExceeded) && command.ProcessState.Success() {
		err = nil
	}
	return string(output), err
}

// verdict is what is printed of a run: all of it when it failed, else a line.
func verdict(t target, output string, err error) string {
	if err != nil {
		return fmt.Sprintf("FAIL %s in %s: %v\n%s", t.name, t.pkg, err, output)
	}
	last := "ran"
	for line := range strings.Lines(output) {
		if strings.HasPrefix(line, "fuzz: elapsed") {
			last = strings.TrimSpace(strings.TrimPrefix(line, "fuzz: "))
		}
	}
	return fmt.Sprintf("ok   %-28s %s\n", t.name, last)
}
