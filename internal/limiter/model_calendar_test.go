// Copyright The Penstock Authors.
// SPDX-License-Identifier: Apache-2.0

package limiter

import (
	"time"

	"github.com/penstock-dev/penstock/internal/ruleset"
)

// modelPeriod is the date on which the period began that people read off their
// clocks and calendars at a time: 20260301 for March of 2026.
func modelPeriod(now int64, wanted ruleset.Calendar) int64 {
	location, err := time.LoadLocation(wanted.TimeZone)
	if err != nil {
		panic(err)
	}
	local := time.UnixMicro(now).In(location)
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

// modelPeriodEnd is the first second at which calendars show another period.
func modelPeriodEnd(now int64, wanted ruleset.Calendar) int64 {
	present := modelPeriod(now, wanted)
	second := now / 1e6
	return 1e6 * firstWhere(second, second+40*24*3600, func(second int64) bool {
		return modelPeriod(second*1e6, wanted) > present
	})
}
