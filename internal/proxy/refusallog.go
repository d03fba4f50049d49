// Copyright The Penstock Authors.
// SPDX-License-Identifier: Apache-2.0

package proxy

import (
	"log/slog"
	"time"
)

// longestMethod is how much of a method is logged: clients may send any word.
const longestMethod = 16

// refusalLog logs some refusals.
type refusalLog struct{ *sampledLog }

func newRefusalLog(logger *slog.Logger, perSecond int, now func() time.Time) refusalLog {
	return refusalLog{newSampledLog(logger, slog.LevelInfo, perSecond, now)}
}

// tell logs a refusal that has been answered, if its turn has come, with more fields
// perhaps.
func (l refusalLog) tell(by refusedBy, outcome, method string, writer *answerWriter, more ...any) {
	omitted, mayLog := l.take()
	if !mayLog {
		return
	}
	fields := append([]any{
		"policy", by.policy, "rule", by.rule, "limit", by.limit, "identity", by.identity,
		"outcome", outcome, "status", writer.status, "method", method[:min(len(method), longestMethod)],
	}, more...)
	// As they were sent, whoever made the answer.
	if after := writer.Header().Get("Retry-After"); after != "" {
		fields = append(fields, "retryAfter", after)
	}
	if code := writer.Header().Get("Grpc-Status"); code != "" {
		fields = append(fields, "grpcStatus", code)
	}
	l.logger.Info("Refused a request", append(fields, omitted...)...)
}
