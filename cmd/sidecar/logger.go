// Copyright The Penstock Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"fmt"
	"io"
	"log/slog"

	"github.com/redis/go-redis/v9"
)

// newLogger logs JSON lines from a level on, also for the Redis client, whose lines are of use
// only when looking closely: what matters in them is reported by its callers.
func newLogger(output io.Writer, level slog.Level) *slog.Logger {
	log := slog.New(slog.NewJSONHandler(output, &slog.HandlerOptions{Level: level}))
	redis.SetLogger(redisLogger{log: log})
	return log
}

type redisLogger struct{ log *slog.Logger }

func (l redisLogger) Printf(ctx context.Context, format string, values ...any) {
	l.log.DebugContext(ctx, "Redis client", "text", fmt.Sprintf(format, values...))
}
