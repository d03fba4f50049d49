// Copyright The Penstock Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"time"
)

// drainTimeout bounds asking a sidecar to drain: the kubelet waits for it.
const drainTimeout = 2 * time.Second

// drainSocket is where a pod's sidecar hears that the pod ends: an abstract socket
// needs no volume and is private to the pod's network namespace.
func drainSocket(podUID string) *net.UnixAddr {
	return &net.UnixAddr{Net: "unix", Name: "@penstock-" + podUID}
}

// askToDrain tells the sidecar of this pod to drain and returns at once.
func askToDrain(ctx context.Context, podUID string) error {
	if podUID == "" {
		return errors.New("drain: environment variable POD_UID is missing: the webhook sets it from the downward API")
	}
	ctx, cancel := context.WithTimeout(ctx, drainTimeout)
	defer cancel()
	var dialer net.Dialer
	connection, err := dialer.DialContext(ctx, "unix", drainSocket(podUID).Name)
	if err != nil {
		return fmt.Errorf("drain: reach the sidecar of pod %s: %w; it runs in another pod or has ended", podUID, err)
	}
	defer func() { _ = connection.Close() }()
	if err := connection.SetDeadline(time.Now().Add(drainTimeout)); err != nil {
		return fmt.Errorf("drain: %w", err)
	}
	// The sidecar closes the connection once it drains.
	if _, err := connection.Read(make([]byte, 1)); err == nil || isTimeout(err) {
		return fmt.Errorf("drain: the sidecar of pod %s did not answer within %v", podUID, drainTimeout)
	}
	return nil
}

func isTimeout(err error) bool {
	timeout, ok := errors.AsType[net.Error](err)
	return ok && timeout.Timeout()
}

// awaitDrain calls drain when the pod ends, until the context ends.
func awaitDrain(ctx context.Context, podUID string, drain func(), log *slog.Logger) error {
	listener, err := net.ListenUnix("unix", drainSocket(podUID))
	if err != nil {
		return fmt.Errorf("listen for drain of pod %s: %w; is another sidecar of this pod running?", podUID, err)
	}
	stop := context.AfterFunc(ctx, func() { _ = listener.Close() })
	defer stop()
	for ctx.Err() == nil {
		connection, err := listener.Accept()
		if err != nil {
			if ctx.Err() != nil {
				return nil
			}
			return fmt.Errorf("listen for drain of pod %s: %w", podUID, err)
		}
		log.Info("Draining")
		drain()
		if err := connection.Close(); err != nil {
			log.Debug("Close drain connection", "error", err)
		}
	}
	return nil
}
