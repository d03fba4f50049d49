// Copyright The Penstock Authors.
// SPDX-License-Identifier: Apache-2.0

package ruleset

import (
	"fmt"
	"time"
	_ "time/tzdata" // where the machine has no time zones, as in a bare image
)

// Calendar makes a limit's window a period of the calendar.
type Calendar struct {
	Period CalendarPeriod `json:"period"`
	// TimeZone is the IANA name of the zone in which periods begin at midnight.
	TimeZone string `json:"timeZone"`
}

// CalendarPeriod is the length of a calendar window.
type CalendarPeriod string

const (
	// PeriodDay is from midnight to midnight.
	PeriodDay CalendarPeriod = "Day"
	// PeriodWeek begins on Monday.
	PeriodWeek CalendarPeriod = "Week"
	// PeriodMonth begins on the first.
	PeriodMonth CalendarPeriod = "Month"
)

// Location is the calendar's time zone.
func (c Calendar) Location() (*time.Location, error) {
	// Names of zones begin with a capital. Other files in a machine's database, such
	// as localtime, differ from machine to machine, and so does Local.
	if c.TimeZone != "" && c.TimeZone != "Local" && c.TimeZone[0] >= 'A' && c.TimeZone[0] <= 'Z' {
		if location, err := time.LoadLocation(c.TimeZone); err == nil {
			return location, nil
		}
	}
	return nil, fmt.Errorf("%q is no time zone: name one of IANA, such as Europe/Berlin or UTC", c.TimeZone)
}
