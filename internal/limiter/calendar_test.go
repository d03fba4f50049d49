// Copyright The Penstock Authors.
// SPDX-License-Identifier: Apache-2.0

package limiter

import (
	"errors"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/penstock-dev/penstock/internal/ruleset"
	"github.com/penstock-dev/penstock/test/model"
	"github.com/penstock-dev/penstock/test/redistest"
)

// awkwardZones are those in which midnight is not simple.
var awkwardZones = []string{
	"UTC", "Europe/Berlin", "America/New_York", "Asia/Kathmandu", "Pacific/Kiritimati", "Etc/GMT+12",
	"Africa/Cairo", "America/Santiago", "America/Havana", "Atlantic/Azores", "Australia/Lord_Howe", "Africa/Casablanca",
}

func calendarFor(t *testing.T, period ruleset.CalendarPeriod, zone string) *calendar {
	t.Helper()
	found, err := calendarOf(&ruleset.Calendar{Period: period, TimeZone: zone})
	if err != nil {
		t.Fatal(err)
	}
	return found
}

func TestPeriodsBegin(t *testing.T) {
	t.Parallel()
	const day, week, month = ruleset.PeriodDay, ruleset.PeriodWeek, ruleset.PeriodMonth
	tests := map[string]struct {
		zone   string
		period ruleset.CalendarPeriod
		at     string
		// want are the begins of the period and of the next one.
		want [2]string
	}{
		"a day of 23 hours":             {"Europe/Berlin", day, "2026-03-29T12:00:00+02:00", [2]string{"2026-03-29T00:00:00+01:00", "2026-03-30T00:00:00+02:00"}},
		"a day of 25 hours":             {"Europe/Berlin", day, "2026-10-25T02:30:00+01:00", [2]string{"2026-10-25T00:00:00+02:00", "2026-10-26T00:00:00+01:00"}},
		"the last moment of a day":      {"Europe/Berlin", day, "2026-06-30T23:59:59.999999+02:00", [2]string{"2026-06-30T00:00:00+02:00", "2026-07-01T00:00:00+02:00"}},
		"the first moment of a day":     {"Europe/Berlin", day, "2026-07-01T00:00:00+02:00", [2]string{"2026-07-01T00:00:00+02:00", "2026-07-02T00:00:00+02:00"}},
		"no midnight":                   {"Africa/Cairo", day, "2026-04-24T01:30:00+03:00", [2]string{"2026-04-24T01:00:00+03:00", "2026-04-25T00:00:00+03:00"}},
		"an hour before no midnight":    {"Africa/Cairo", day, "2026-04-23T23:30:00+02:00", [2]string{"2026-04-23T00:00:00+02:00", "2026-04-24T01:00:00+03:00"}},
		"midnight twice":                {"America/Havana", day, "2026-11-01T00:30:00-05:00", [2]string{"2026-11-01T00:00:00-04:00", "2026-11-02T00:00:00-05:00"}},
		"back over midnight":            {"America/St_Johns", day, "2010-11-06T23:30:00-03:30", [2]string{"2010-11-07T00:00:00-02:30", "2010-11-08T00:00:00-03:30"}},
		"a day that never was":          {"Pacific/Apia", day, "2011-12-31T00:30:00+14:00", [2]string{"2011-12-31T00:00:00+14:00", "2012-01-01T00:00:00+14:00"}},
		"a week from Monday":            {"UTC", week, "2026-11-29T23:00:00Z", [2]string{"2026-11-23T00:00:00Z", "2026-11-30T00:00:00Z"}},
		"a week on Monday":              {"UTC", week, "2026-11-30T00:00:00Z", [2]string{"2026-11-30T00:00:00Z", "2026-12-07T00:00:00Z"}},
		"a week over the year's end":    {"Asia/Tokyo", week, "2026-12-31T12:00:00+09:00", [2]string{"2026-12-28T00:00:00+09:00", "2027-01-04T00:00:00+09:00"}},
		"a week in which summer begins": {"America/New_York", week, "2026-03-08T12:00:00-04:00", [2]string{"2026-03-02T00:00:00-05:00", "2026-03-09T00:00:00-04:00"}},
		"February of a leap year":       {"UTC", month, "2028-02-29T12:00:00Z", [2]string{"2028-02-01T00:00:00Z", "2028-03-01T00:00:00Z"}},
		"the thirty-first":              {"UTC", month, "2026-01-31T12:00:00Z", [2]string{"2026-01-01T00:00:00Z", "2026-02-01T00:00:00Z"}},
		"December":                      {"America/Santiago", month, "2026-12-31T23:00:00-03:00", [2]string{"2026-12-01T00:00:00-03:00", "2027-01-01T00:00:00-03:00"}},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			at, err := time.Parse(time.RFC3339Nano, tc.at)
			if err != nil {
				t.Fatal(err)
			}
			found := calendarFor(t, tc.period, tc.zone)
			around := found.bounds(at.UnixMicro())
			got := [2]string{}
			for i := range got {
				got[i] = time.UnixMicro(around[i+1]).In(found.location).Format(time.RFC3339Nano)
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("the period at %s and the next begin (-want +got):\n%s", tc.at, diff)
			}
		})
	}
}

// TestPeriodsFollowOneAnother has no gap and no overlap, whoever asks and when.
func TestPeriodsFollowOneAnother(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(r *rapid.T) {
		period := rapid.SampledFrom([]ruleset.CalendarPeriod{ruleset.PeriodDay, ruleset.PeriodWeek, ruleset.PeriodMonth}).Draw(r, "period")
		found := calendarFor(t, period, rapid.SampledFrom(awkwardZones).Draw(r, "zone"))
		now := present + rapid.Int64Range(0, 30*maxWindowMicros).Draw(r, "now")
		around := found.bounds(now)
		if !around.around(now) || around[0] >= around[1] || around[2] >= around[3] {
			r.Fatalf("periods %v around %d", around, now)
		}
		if next := found.bounds(around[2]); next[0] != around[1] || next[1] != around[2] || next[2] != around[3] {
			r.Fatalf("the periods around the next are %v, of this one %v", next, around)
		}
		wanted := ruleset.Calendar{Period: period, TimeZone: found.location.String()}
		if end := model.PeriodEnd(now, wanted); end != around[2] {
			r.Fatalf("the period around %d ends at %d, by the calendar at %d", now, around[2], end)
		}
	})
}

func TestUnknownCalendarsAreErrors(t *testing.T) {
	t.Parallel()
	for _, wanted := range []ruleset.Calendar{
		{Period: "Year", TimeZone: "UTC"}, {Period: ruleset.PeriodDay, TimeZone: "Europe/Atlantis"}, {Period: ruleset.PeriodDay},
		{Period: ruleset.PeriodDay, TimeZone: "Local"}, {Period: ruleset.PeriodDay, TimeZone: "localtime"}, {Period: ruleset.PeriodDay, TimeZone: "../UTC"},
	} {
		if _, err := NewMemory(nil, 0).Decide(t.Context(), "shop", []Check{calendarOfClient("a", 1, wanted)}); err == nil {
			t.Errorf("%+v was decided on, want an error", wanted)
		}
	}
}

// TestThisMachinesClockDecidesNothing sets it wrong: within a period of the
// store's the verdict is that of the store's time; beyond there is none, nothing
// is charged, and the store is not blamed.
func TestThisMachinesClockDecidesNothing(t *testing.T) {
	t.Parallel()
	check := calendarOfClient("a", 3, ruleset.Calendar{Period: ruleset.PeriodDay, TimeZone: "Europe/Berlin"})
	limiter := newClockedRedis(t, clientOf(t, redistest.Start(t)))
	limiter.set(t, present)
	want := decide(t, limiter, costing(check, 0)).Limits[0]
	for _, off := range []time.Duration{-23 * time.Hour, 23 * time.Hour} {
		limiter.now = func() time.Time { return time.UnixMicro(present).Add(off) }
		if got := decide(t, limiter, costing(check, 0)).Limits[0]; got != want {
			t.Errorf("with a clock off by %v: %+v, want %+v", off, got, want)
		}
	}
	for _, off := range []time.Duration{-49 * time.Hour, 49 * time.Hour} {
		limiter.now = func() time.Time { return time.UnixMicro(present).Add(off) }
		for range opensAfter + 1 {
			_, err := limiter.Decide(t.Context(), "shop", []Check{check, fixedWindowOf("a", 3, ages)})
			if !errors.Is(err, errOutsideCalendar) || ErrorKind(err) != KindClock {
				t.Errorf("with a clock off by %v: error %v of kind %s, want one about the clock", off, err, ErrorKind(err))
			}
		}
	}
	limiter.now = func() time.Time { return time.UnixMicro(present) }
	for _, state := range decide(t, limiter, costing(check, 0), costing(fixedWindowOf("a", 3, ages), 0)).Limits {
		if state.Remaining != 3 {
			t.Errorf("%+v, want nothing charged", state)
		}
	}
}

func TestCalendarStateIsAnInteger(t *testing.T) {
	t.Parallel()
	client := clientOf(t, redistest.Start(t))
	limiter := newRedis(t, client.Options(), patience)
	check := calendarOfClient("a", maxRequests, ruleset.Calendar{Period: ruleset.PeriodDay, TimeZone: "UTC"})
	decide(t, limiter, costing(check, maxRequests))
	if encoding, err := client.ObjectEncoding(t.Context(), counterOf(check)).Result(); err != nil || encoding != "int" {
		t.Errorf("encoding %q, %v, want int", encoding, err)
	}
}
