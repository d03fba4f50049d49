// Copyright The Penstock Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"errors"
	"fmt"
	"net"
	"syscall"
)

// exclusively runs work unless another up or down is at work on this machine. The
// lock is an abstract socket: the kernel drops it with the process and it leaves no file.
func exclusively(work func() error) error {
	l, err := net.Listen("unix", "@penstock-cluster")
	if errors.Is(err, syscall.EADDRINUSE) {
		return errors.New("another make cluster or make cluster-down is at work on this machine: wait until it ends")
	}
	if err != nil {
		return fmt.Errorf("take the cluster's lock: %w", err)
	}
	defer l.Close()
	return work()
}
