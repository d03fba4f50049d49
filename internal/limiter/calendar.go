// Copyright The Penstock Authors.
// SPDX-License-Identifier: Apache-2.0

package limiter

import (
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/penstock-dev/penstock/internal/ruleset"
)

// calendar tells when periods begin in a time zone.
type calendar struct {
	period   ruleset.CalendarPeriod
	location *time.Location
	// last are the bounds that were asked for last: mostly those that are next.
	last atomic.Pointer[bounds]
}

// bounds are the begins of the period before, the present one, the next, and the
// one after that, in microseconds.
type bounds [4]int64

func (b *bounds) around(now int64) bool { return b[1] <= now && now < b[2] }

// calendars are those in use. There are no more than time zones and periods.
var calendars sync.Map

// calendarOf is the calendar of a limit that has one.
func calendarOf(wanted *ruleset.Calendar) (*calendar, error) {
	if known, ok := calendars.Load(*wanted); ok {
		if found, ok := known.(*calendar); ok {
			return found, nil
		}
	}
	switch wanted.Period {
	case ruleset.PeriodDay, ruleset.PeriodWeek, ruleset.PeriodMonth:
	default:
		return nil, fmt.Errorf("this version does not know the calendar's period %q; upgrade the sidecar", wanted.Period)
	}
	location, err := wanted.Location()
	if err != nil {
		return nil, err
	}
	made := &calendar{period: wanted.Period, location: location}
	calendars.Store(*wanted, made)
	return made, nil
}

// bounds are those around a time.
func (c *calendar) bounds(now int64) bounds {
	if last := c.last.Load(); last != nil && last.around(now) {
		return *last
	}
	var found bounds
	local := time.UnixMicro(now).In(c.location)
	// A day can begin twice, where the clock is set back over midnight. Only the
	// first time counts, so the present period may be later than the date says.
	for ahead := range 3 {
		for i := range found {
			found[i] = c.begin(local, ahead+i-1)
		}
		if found.around(now) {
			break
		}
	}
	c.last.Store(&found)
	return found
}

// begin is when the period begins that is so many periods after a local time's.
func (c *calendar) begin(local time.Time, periods int) int64 {
	year, month, day := local.Date()
	switch c.period {
	case ruleset.PeriodWeek:
		sinceMonday := (int(local.Weekday()) + 6) % 7
		day += 7*periods - sinceMonday
	case ruleset.PeriodMonth:
		month, day = month+time.Month(periods), 1
	default:
		day += periods
	}
	return c.midnight(time.Date(year, month, day, 0, 0, 0, 0, time.UTC)).UnixMicro()
}

// mostAhead is more than any time zone is ahead of UTC.
const mostAhead = 15 * time.Hour

// midnight is the first moment at which clocks show a date's midnight or later,
// since clocks may jump over midnight. The date is given as midnight in UTC.
func (c *calendar) midnight(date time.Time) time.Time {
	from := date.Add(-mostAhead).In(c.location)
	// Clocks change a few times a year: the second or third try is always enough.
	for range 4 {
		_, offset := from.Zone()
		_, end := from.ZoneBounds()
		begin := date.Add(-time.Duration(offset) * time.Second)
		if begin.Before(from) {
			begin = from
		}
		if end.IsZero() || begin.Before(end) {
			return begin
		}
		from = end
	}
	return from
}
