// Copyright The Penstock Authors.
// SPDX-License-Identifier: Apache-2.0

package proxy

import (
	"context"
	"log/slog"
	"sync"
	"time"
)

// longestMethod is how much of a method is logged: clients may send any word.
const longestMethod = 16

// refusalLog logs some refusals: at most so many in a second, and how many were left
// out between.
type refusalLog struct {
	logger *slog.Logger
	// perSecond is 0 for no log.
	perSecond int
	now       func() time.Time

	mu sync.Mutex
	// tokens are the lines that may be logged at once at a time.
	tokens  float64
	at      time.Time
	omitted int64
	// omittedEver is what all lines tell of together, and the next one will.
	omittedEver int64
}

// newRefusalLog logs nothing where the logger would not.
func newRefusalLog(logger *slog.Logger, perSecond int, now func() time.Time) *refusalLog {
	if !logger.Enabled(context.Background(), slog.LevelInfo) {
		perSecond = 0
	}
	return &refusalLog{logger: logger, perSecond: perSecond, now: now, tokens: float64(perSecond), at: now()}
}

// tell logs a refusal that has been answered, if its turn has come, with more fields
// perhaps.
func (l *refusalLog) tell(by refusedBy, outcome, method string, writer *answerWriter, more ...any) {
	if l.perSecond < 1 {
		return
	}
	omitted, mayLog := l.take()
	if !mayLog {
		return
	}
	fields := []any{
		"policy", by.policy, "rule", by.rule, "limit", by.limit, "identity", by.identity,
		"outcome", outcome, "status", writer.status, "method", method[:min(len(method), longestMethod)],
	}
	fields = append(fields, more...)
	// As they were sent, whoever made the answer.
	if after := writer.Header().Get("Retry-After"); after != "" {
		fields = append(fields, "retryAfter", after)
	}
	if code := writer.Header().Get("Grpc-Status"); code != "" {
		fields = append(fields, "grpcStatus", code)
	}
	if omitted > 0 {
		fields = append(fields, "omitted", omitted)
	}
	l.logger.Info("Refused a request", fields...)
}

// take says whether a line may be logged now, and how many were not since the last.
func (l *refusalLog) take() (omitted int64, mayLog bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	now := l.now()
	l.tokens = min(float64(l.perSecond), l.tokens+now.Sub(l.at).Seconds()*float64(l.perSecond))
	l.at = now
	if l.tokens < 1 {
		l.omitted++
		l.omittedEver++
		return 0, false
	}
	l.tokens--
	omitted, l.omitted = l.omitted, 0
	return omitted, true
}

// omissions are how many refusals were not logged since the start.
func (l *refusalLog) omissions() int64 {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.omittedEver
}
