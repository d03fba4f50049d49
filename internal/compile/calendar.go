// Copyright The Penstock Authors.
// SPDX-License-Identifier: Apache-2.0

package compile

import (
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/penstock-dev/penstock/api/v1alpha1"
	"github.com/penstock-dev/penstock/internal/ruleset"
)

// defaultTimeZone is that of calendars that name none.
const defaultTimeZone = "UTC"

// compileCalendar compiles the calendar of a limit that has one.
func compileCalendar(limit *v1alpha1.Limit, at *field.Path, found *findings) *ruleset.Calendar {
	if limit.Algorithm != "" && limit.Algorithm != v1alpha1.AlgorithmFixedWindow {
		found.invalid(at.Child("algorithm"), "is %s, but a calendar window is always a FixedWindow: remove algorithm, or write a window in place of calendar", limit.Algorithm)
	}
	at = at.Child("calendar")
	oneOf(found, at.Child("period"), string(limit.Calendar.Period), "Day", "Week", "Month")
	compiled := &ruleset.Calendar{Period: ruleset.CalendarPeriod(limit.Calendar.Period), TimeZone: limit.Calendar.TimeZone}
	if compiled.TimeZone == "" {
		compiled.TimeZone = defaultTimeZone
	}
	if _, err := compiled.Location(); err != nil {
		found.invalid(at.Child("timeZone"), "%v", err)
	}
	return compiled
}
