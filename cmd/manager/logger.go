// Copyright The Penstock Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"io"
	"log/slog"

	"github.com/go-logr/logr"
	"k8s.io/klog/v2"
	ctrl "sigs.k8s.io/controller-runtime"
)

// useLogger sends the logs of all libraries to one place, as JSON.
func useLogger(output io.Writer, level slog.Level) {
	logger := logr.FromSlogHandler(slog.NewJSONHandler(output, &slog.HandlerOptions{Level: level}))
	ctrl.SetLogger(logger)
	klog.SetLogger(logger)
}
