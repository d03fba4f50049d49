// Copyright The Penstock Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"fmt"
	"io"
	"log/slog"

	"github.com/go-logr/logr"
	"github.com/redis/go-redis/v9"
	"k8s.io/klog/v2"
	ctrl "sigs.k8s.io/controller-runtime"
)

// useLogger sends the logs of all libraries to one place, as JSON.
func useLogger(output io.Writer, level slog.Level) {
	logger := logr.FromSlogHandler(slog.NewJSONHandler(output, &slog.HandlerOptions{Level: level}))
	ctrl.SetLogger(logger)
	klog.SetLogger(logger)
	redis.SetLogger(redisLogger{logger.WithName("redis")})
}

// redisLogger takes what the Redis client says of its connections. It is of use to
// few: what an outage means is reported by the stores' reconciler.
type redisLogger struct{ logger logr.Logger }

// Printf implements the interface that the client logs to.
func (l redisLogger) Printf(_ context.Context, format string, values ...any) {
	l.logger.V(1).Info("Redis client", "message", fmt.Sprintf(format, values...))
}
