// Copyright The Penstock Authors.
// SPDX-License-Identifier: Apache-2.0

package history

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/penstock-dev/penstock/internal/ruleset"
)

// small are limits of which few requests make a history.
func small() Limits {
	limits := Limits{}
	limits.add("window", ruleset.Limit{Algorithm: ruleset.FixedWindow, Requests: 2, WindowMicros: 1000})
	limits.add("places", ruleset.Limit{Algorithm: ruleset.Concurrency, Requests: 2})
	limits.add("shadow", ruleset.Limit{Algorithm: ruleset.FixedWindow, Requests: 1, WindowMicros: 1000})
	limits.add("leased", ruleset.Limit{Algorithm: ruleset.FixedWindow, Requests: 2, WindowMicros: 1000})
	shadow, leased := limits["shadow"], limits["leased"]
	shadow.Shadow, leased.Leased, leased.Bound = true, true, 1
	limits["shadow"], limits["leased"] = shadow, leased
	return limits
}

// asks is a request of a worker of its own, at one time.
func asks(worker string, at int64, admitted bool, checks ...Judged) Record {
	return Record{Worker: worker, Number: 1, At: at, Before: at, After: at, Admitted: admitted, Checks: checks}
}

func recalls(worker string, before, after int64, checks ...Judged) Record {
	return Record{Worker: worker, Number: 1, Before: before, After: after, Checks: checks}
}

func releases(worker string, before, after int64) Record {
	return Record{Worker: worker, Number: 2, Before: before, After: after, Releases: 1}
}

func yes(limit string, cost int64) Judged {
	return Judged{Limit: limit, Client: "c", Cost: cost, Admits: true}
}

func no(limit string, cost int64) Judged { return Judged{Limit: limit, Client: "c", Cost: cost} }

func TestCheckKnowsRightFromWrong(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		records []Record
		want    []Kind
	}{
		"full, and anew in the next window": {records: []Record{
			asks("a", 1000, true, yes("window", 2)), asks("b", 1999, false, no("window", 1)), asks("c", 2000, true, yes("window", 2)),
		}},
		"one call, in any order": {records: []Record{
			asks("a", 1000, false, no("window", 1)), asks("b", 1000, true, yes("window", 1)), asks("c", 1000, true, yes("window", 1)),
		}},
		"one call too many": {records: []Record{
			asks("a", 1000, true, yes("window", 1)), asks("b", 1000, true, yes("window", 1)), asks("c", 1000, true, yes("window", 1)),
		}, want: []Kind{OverAdmission}},
		"more than it ever admits": {records: []Record{asks("a", 1000, false, no("window", 3))}},
		"a look":                   {records: []Record{asks("a", 1000, true, yes("window", 2)), asks("b", 1001, true, yes("window", 0))}},
		"a look refused":           {records: []Record{asks("a", 1000, false, no("window", 0))}, want: []Kind{WrongRefusal}},
		"refused with room":        {records: []Record{asks("a", 1000, true, yes("window", 1)), asks("b", 1001, false, no("window", 1))}, want: []Kind{WrongRefusal}},
		"refused from memory":      {records: []Record{asks("a", 1000, true, yes("window", 2)), recalls("b", 1999, 2500, no("window", 1))}},
		"refused from memory, while it filled up": {records: []Record{
			recalls("b", 1000, 1500, no("window", 1)), asks("a", 1200, true, yes("window", 2)),
		}},
		"refused from memory too long": {records: []Record{
			asks("a", 1000, true, yes("window", 2)), recalls("b", 2000, 2100, no("window", 1)),
		}, want: []Kind{WrongRefusal}},
		"refused from memory before it filled up": {records: []Record{
			recalls("b", 1000, 1100, no("window", 1)), asks("a", 1200, true, yes("window", 2)),
		}, want: []Kind{WrongRefusal}},
		"a refusal charges nothing": {records: []Record{
			asks("a", 1000, true, yes("places", 2)), asks("b", 1001, false, yes("window", 2), no("places", 1)), asks("c", 1002, true, yes("window", 2)),
		}},
		"a refusal charged": {records: []Record{
			asks("a", 1000, true, yes("places", 2)), asks("b", 1001, false, yes("window", 2), no("places", 1)), asks("c", 1002, false, no("window", 2)),
		}, want: []Kind{WrongRefusal}},
		"refused by another limit than said": {records: []Record{
			asks("a", 1000, true, yes("window", 2), yes("places", 2)), asks("b", 1001, false, yes("window", 1), no("places", 1)),
		}, want: []Kind{Misreported}},
		"a shadow refuses nothing, and is not charged": {records: []Record{
			asks("a", 1000, true, yes("window", 1), yes("shadow", 1)), asks("b", 1001, true, yes("window", 1), no("shadow", 1)),
		}},
		"a shadow refused the request": {records: []Record{asks("a", 1000, true, yes("shadow", 1)), asks("b", 1001, false, no("shadow", 1))}, want: []Kind{Inconsistent}},
		"a shadow was charged beyond":  {records: []Record{asks("a", 1000, true, yes("shadow", 1)), asks("b", 1001, true, yes("shadow", 1))}, want: []Kind{OverAdmission}},
		"places given back":            {records: []Record{asks("a", 1000, true, yes("places", 2)), releases("a", 1100, 1200), asks("b", 1300, true, yes("places", 2))}},
		"places, perhaps given back yet": {records: []Record{
			asks("a", 1000, true, yes("places", 2)), releases("a", 1100, 1200), asks("b", 1150, true, yes("places", 1)), asks("c", 1160, false, no("places", 1)),
		}},
		"places not given back": {records: []Record{
			asks("a", 1000, true, yes("places", 2)), releases("a", 1100, 1200), asks("b", 1099, true, yes("places", 1)),
		}, want: []Kind{OverAdmission}},
		"places given back, but refused": {records: []Record{
			asks("a", 1000, true, yes("places", 2)), releases("a", 1100, 1200), asks("b", 1201, false, no("places", 1)),
		}, want: []Kind{WrongRefusal}},
		"places of nobody":           {records: []Record{asks("a", 1000, false, no("places", 3)), releases("a", 1100, 1200)}, want: []Kind{Inconsistent}},
		"leases within their bound":  {records: []Record{asks("a", 1000, true, yes("leased", 2)), {Worker: "b", Number: 1, Before: 1100, After: 1100, Admitted: true, Checks: []Judged{yes("leased", 1)}}}},
		"leases beyond their bound":  {records: []Record{asks("a", 1000, true, yes("leased", 2)), asks("b", 1100, true, yes("leased", 2))}, want: []Kind{OverAdmission}},
		"admitted without the store": {records: []Record{{Worker: "b", Number: 1, Before: 1100, After: 1100, Admitted: true, Checks: []Judged{yes("window", 1)}}}, want: []Kind{Inconsistent}},
		"no limits":                  {records: []Record{asks("a", 1000, true)}, want: []Kind{Inconsistent}},
		"an unknown limit":           {records: []Record{asks("a", 1000, true, yes("stranger", 1))}, want: []Kind{Inconsistent}},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			report := Check(small(), tc.records)
			var got []Kind
			for _, problem := range report.Problems {
				got = append(got, problem.Kind)
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("problems (-want +got):\n%s%v", diff, report.Problems)
			}
		})
	}
}
