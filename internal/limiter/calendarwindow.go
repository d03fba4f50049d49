// Copyright The Penstock Authors.
// SPDX-License-Identifier: Apache-2.0

package limiter

import (
	"errors"
	"fmt"
	"time"

	"github.com/penstock-dev/penstock/internal/ruleset"
)

// errOutsideCalendar says that the store's time is in none of the three periods
// that were named to it.
var errOutsideCalendar = errors.New("the store's clock and this machine's differ by more than a period of a calendar window; set them right")

// calendarWindow is a fixed window whose bounds are those of a calendar. The store
// knows no time zones: it is told the periods before, at and after this machine's
// time, and picks one by its own time. So this machine's clock decides nothing.
type calendarWindow struct {
	fixedWindow
	calendar *calendar
	clock    func() time.Time
}

func newCalendarWindow(window fixedWindow, limit *ruleset.Limit, clock func() time.Time) (plan, error) {
	found, err := calendarOf(limit.Calendar)
	if err != nil {
		return nil, fmt.Errorf("decide on limit %q: %w", limit.Name, err)
	}
	return &calendarWindow{fixedWindow: window, calendar: found, clock: clock}, nil
}

func (w *calendarWindow) appendArguments(arguments []any) []any {
	around := w.calendar.bounds(w.clock().UnixMicro())
	return w.appendTo(arguments, "calendar", w.capped(), w.requests, around[0], around[1], around[2], around[3])
}

// same ignores the clock: a call is made at one time.
func (w *calendarWindow) same(other plan) bool {
	another, ok := other.(*calendarWindow)
	return ok && w.fixedWindow == another.fixedWindow && w.calendar == another.calendar
}

func (w *calendarWindow) appendCorrection(arguments []any, _ standing) []any {
	return w.appendArguments(arguments)
}

func (w *calendarWindow) end(at int64) int64 { return w.calendar.bounds(at)[2] }

// stand is decide.lua's part for a calendar: change both together.
func (w *calendarWindow) stand(stored state, now int64) standing {
	return w.standUntil(stored, now, w.end(now))
}

func (w *calendarWindow) back(stored state, _ standing, charged, now int64) state {
	return w.backUntil(stored, now, w.end(charged), w.end(now))
}

func (w *calendarWindow) late(stored state, now int64) state {
	return w.lateUntil(stored, now, w.end(now))
}

func (w *calendarWindow) costing(cost int64) plan {
	other := *w
	other.cost = cost
	return &other
}
