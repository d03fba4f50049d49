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
	return append(arguments, "calendar", min(w.cost, w.requests+1), w.requests,
		around[0], around[1], around[2], around[3])
}

// stand is decide.lua's part for a calendar: change both together.
func (w *calendarWindow) stand(stored state, now int64) standing {
	return w.standUntil(stored, now, w.calendar.bounds(now)[2])
}
