// Copyright The Penstock Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"log/slog"
	"strings"
	"testing"
	"time"
)

func TestDrainReachesTheSidecarOfThePodOnly(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	drained, ended := make(chan struct{}, 10), make(chan error, 1)
	uid := "drain-test-" + time.Now().Format(time.RFC3339Nano)
	go func() {
		ended <- awaitDrain(ctx, uid, func() { drained <- struct{}{} }, slog.New(slog.DiscardHandler))
	}()
	eventually(t, func() error { return askToDrain(t.Context(), uid) })
	<-drained
	if err := askToDrain(t.Context(), uid); err != nil {
		t.Errorf("drain again: %v", err)
	}
	<-drained
	if err := askToDrain(t.Context(), uid+"x"); err == nil || !strings.Contains(err.Error(), uid+"x") {
		t.Errorf("drain of another pod: %v, want an error that names it", err)
	}
	if err := awaitDrain(ctx, uid, func() {}, slog.New(slog.DiscardHandler)); err == nil {
		t.Error("two sidecars of one pod listen for drain")
	}
	cancel()
	if err := <-ended; err != nil {
		t.Errorf("awaitDrain ended with %v", err)
	}
}
