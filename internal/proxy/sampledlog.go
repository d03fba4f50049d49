// Copyright The Penstock Authors.
// SPDX-License-Identifier: Apache-2.0

package proxy

import (
	"context"
	"log/slog"
	"sync"
	"time"
)

// sampledLog logs some of many events: at most so many in a second, and how many were
// left out between.
type sampledLog struct {
	logger *slog.Logger
	level  slog.Level
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

// newSampledLog logs nothing where the logger would not.
func newSampledLog(logger *slog.Logger, level slog.Level, perSecond int, now func() time.Time) *sampledLog {
	if !logger.Enabled(context.Background(), level) {
		perSecond = 0
	}
	return &sampledLog{logger: logger, level: level, perSecond: perSecond, now: now, tokens: float64(perSecond), at: now()}
}

// tell logs an event if its turn has come; only then its fields are asked for.
func (l *sampledLog) tell(message string, fields func() []any) {
	if l.perSecond < 1 {
		return
	}
	omitted, mayLog := l.take()
	if !mayLog {
		return
	}
	all := fields()
	if omitted > 0 {
		all = append(all, "omitted", omitted)
	}
	l.logger.Log(context.Background(), l.level, message, all...)
}

// take says whether a line may be logged now, and how many were not since the last.
func (l *sampledLog) take() (omitted int64, mayLog bool) {
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

// omissions are how many events were not logged since the start.
func (l *sampledLog) omissions() int64 {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.omittedEver
}
