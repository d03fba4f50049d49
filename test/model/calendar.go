// Copyright The Penstock Authors.
// SPDX-License-Identifier: Apache-2.0

package model

import (
	"sync"
	"time"

	"github.com/penstock-dev/penstock/internal/ruleset"
)

// zones are the time zones that were read.
var zones sync.Map

func zone(name string) *time.Location {
	if known, found := zones.Load(name); found {
		return known.(*time.Location)
	}
	location, err := time.LoadLocation(name)
	if err != nil {
		panic(err)
	}
	zones.Store(name, location)
	return location
}

// periodOf is the date on which the period began that people read off their
// clocks and calendars at a time: 20260301 for March of 2026.
func periodOf(now int64, wanted ruleset.Calendar) int64 {
	local := time.UnixMicro(now).In(zone(wanted.TimeZone))
	switch wanted.Period {
	case ruleset.PeriodMonth:
		return int64(local.Year()*10_000+int(local.Month())*100) + 1
	case ruleset.PeriodWeek:
		noon := time.Date(local.Year(), local.Month(), local.Day(), 12, 0, 0, 0, time.UTC)
		for noon.Weekday() != time.Monday {
			noon = noon.AddDate(0, 0, -1)
		}
		return int64(noon.Year()*10_000 + int(noon.Month())*100 + noon.Day())
	default:
		return int64(local.Year()*10_000 + int(local.Month())*100 + local.Day())
	}
}

// PeriodEnd is the first second at which calendars show another period, in
// microseconds since the epoch.
func PeriodEnd(now int64, wanted ruleset.Calendar) int64 {
	present := periodOf(now, wanted)
	second := now / 1e6
	return 1e6 * firstWhere(second, second+40*24*3600, func(second int64) bool {
		return periodOf(second*1e6, wanted) > present
	})
}
