// Copyright The Penstock Authors.
// SPDX-License-Identifier: Apache-2.0

package history

import (
	"cmp"
	"maps"
	"slices"
)

// examine looks for records that contradict one another or themselves, whatever
// the limits say.
func (r *Report) examine(limits Limits, records []Record) {
	byWorker := map[string][]Record{}
	for _, record := range records {
		byWorker[record.Worker] = append(byWorker[record.Worker], record)
		if record.Releases == 0 {
			r.examineVerdict(limits, record)
		}
	}
	for _, worker := range slices.Sorted(maps.Keys(byWorker)) {
		r.examineOrder(byWorker[worker])
	}
}

// examineVerdict compares a verdict with what the limits say.
func (r *Report) examineVerdict(limits Limits, record Record) {
	refusing, leased := 0, true
	for _, check := range record.Checks {
		limit, known := limits[check.Limit]
		if !known {
			r.add(Inconsistent, record, "no limit is named %q", check.Limit)
			return
		}
		if !check.Admits && !limit.Shadow {
			refusing++
		}
		leased = leased && limit.Leased
	}
	switch {
	case len(record.Checks) == 0:
		r.add(Inconsistent, record, "it names no limit")
	case record.Admitted && record.fromMemory() && !leased:
		r.add(Inconsistent, record, "admitted without a time of the store")
	case record.Admitted && refusing > 0:
		r.add(Inconsistent, record, "admitted, though %d of its limits refuse it", refusing)
	case !record.Admitted && refusing == 0:
		r.add(Inconsistent, record, "refused, though no limit refuses it")
	}
}

// examineOrder takes the records of one worker, which asks again only after it was
// answered: every number is there once, the store's time never falls, and only places
// are given back that it got.
func (r *Report) examineOrder(records []Record) {
	slices.SortStableFunc(records, func(a, b Record) int { return cmp.Compare(a.Number, b.Number) })
	last, number := int64(0), 0
	held := map[int]bool{}
	for _, record := range records {
		switch {
		case record.Releases > 0 && !held[record.Releases]:
			r.add(Inconsistent, record, "it gives back what request %d does not hold", record.Releases)
		case record.Number == number:
			r.add(Inconsistent, record, "it is recorded twice")
		case record.Number != number+1:
			r.add(Inconsistent, record, "there is no record of request %d before it", number+1)
		}
		number = record.Number
		held[number] = record.Admitted
		delete(held, record.Releases)
		if record.At == 0 {
			continue
		}
		if record.At < last {
			r.add(Inconsistent, record, "at %d, but the worker's request before it was at %d", record.At, last)
		}
		last = record.At
	}
}
