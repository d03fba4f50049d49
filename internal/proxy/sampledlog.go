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

// newSampledLog is of events of a level. It logs nothing where the logger would not.
func newSampledLog(logger *slog.Logger, level slog.Level, perSecond int, now func() time.Time) *sampledLog {
	if !logger.Enabled(context.Background(), level) {
		perSecond = 0
	}
	return &sampledLog{logger: logger, perSecond: perSecond, now: now, tokens: float64(perSecond), at: now()}
}

// take says whether an event may be logged now, and gives the field of how many were not
// since the last; none if none were left out.
func (l *sampledLog) take() (omitted []any, mayLog bool) {
	if l.perSecond < 1 {
		return nil, false
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	now := l.now()
	l.tokens = min(float64(l.perSecond), l.tokens+now.Sub(l.at).Seconds()*float64(l.perSecond))
	l.at = now
	if l.tokens < 1 {
		l.omitted++
		l.omittedEver++
		return nil, false
	}
	l.tokens--
	if l.omitted > 0 {
		omitted = []any{"omitted", l.omitted}
	}
	l.omitted = 0
	return omitted, true
}

// omissions are how many events were not logged since the start.
func (l *sampledLog) omissions() int64 {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.omittedEver
}
