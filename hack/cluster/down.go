// Copyright The Penstock Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"syscall"
	"time"
)

func down(ctx context.Context) error {
	if _, err := os.Stat(stateDir); errors.Is(err, os.ErrNotExist) {
		fmt.Println("the cluster is down: nothing was left of it")
		return clean(ctx)
	}
	if err := clean(ctx); err != nil {
		return err
	}
	fmt.Println("the cluster is down")
	return nil
}

// clean removes every trace of a node, whether it runs, was interrupted or never was.
func clean(ctx context.Context) error {
	r, err := readRecord()
	if err != nil {
		return err
	}
	if err := stop(ctx, r); err != nil {
		return err
	}
	if err := removeCgroups(ctx); err != nil {
		return err
	}
	if err := removeNetwork(ctx); err != nil {
		return err
	}
	if err := removeState(); err != nil {
		return err
	}
	removeMountPoints()
	return nil
}

// stop ends the node's first process; the kernel ends all others of its PID
// namespace before it is gone.
func stop(ctx context.Context, r record) error {
	for _, signal := range []syscall.Signal{syscall.SIGTERM, syscall.SIGKILL} {
		if !r.alive() {
			return nil
		}
		if err := syscall.Kill(r.PID, signal); err != nil && !errors.Is(err, syscall.ESRCH) {
			return fmt.Errorf("end the node's first process: %w", err)
		}
		err := waitFor(ctx, 10*time.Second, "the node to end", func(context.Context) error {
			if r.alive() {
				return fmt.Errorf("process %d is still there", r.PID)
			}
			return nil
		})
		if err == nil {
			return nil
		}
		if signal == syscall.SIGKILL {
			return err
		}
	}
	return nil
}
