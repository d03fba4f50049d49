// Copyright The Penstock Authors.
// SPDX-License-Identifier: Apache-2.0

package history

import (
	"cmp"
	"math/big"
	"slices"

	"github.com/penstock-dev/penstock/internal/ruleset"
	"github.com/penstock-dev/penstock/test/model"
)

// Check replays the records of a history through the models of its limits. Records
// of one microsecond may have been decided on in any order, since one call of the
// script decides on many requests: admitted ones are charged in any order, and the
// refused ones come after them.
func Check(limits Limits, records []Record) *Report {
	report := &Report{Over: map[string]*big.Rat{}}
	report.examine(limits, records)
	if report.Count(Inconsistent) > 0 {
		return report
	}
	p := &replay{
		limits: limits, report: report, released: map[string][]Judged{},
		fewest: model.NewUnbounded(), most: model.NewUnbounded(),
	}
	events := eventsOf(records)
	for len(events) > 0 {
		now := events[0].at
		end := slices.IndexFunc(events, func(e event) bool { return e.at != now })
		if end < 0 {
			end = len(events)
		}
		p.moment(now, events[:end])
		events = events[end:]
	}
	for _, record := range p.doubtful {
		p.reject(record)
	}
	return report
}

// event is when something of a record happens.
type event struct {
	at     int64
	record Record
	what   what
}

type what int

const (
	// places are given back not before this,
	released what = iota
	decided
	recalled
	// and not after this.
	gone
)

// eventsOf are the events of records in order. What was decided on without the store
// belongs to when it was asked for.
func eventsOf(records []Record) []event {
	events := make([]event, 0, len(records))
	for _, record := range records {
		switch {
		case record.Releases > 0:
			earliest, latest := record.Before, record.After
			if record.At > 0 {
				earliest, latest = record.At, record.At
			}
			events = append(events, event{earliest, record, released}, event{latest, record, gone})
		case record.fromMemory():
			events = append(events, event{record.Before, record, recalled})
		default:
			events = append(events, event{record.At, record, decided})
		}
	}
	slices.SortStableFunc(events, func(a, b event) int { return cmp.Or(cmp.Compare(a.at, b.at), cmp.Compare(a.what, b.what)) })
	return events
}

type replay struct {
	limits Limits
	report *Report
	// fewest has places given back as early as may be, and most as late: what fewest
	// refuses must not be admitted, what most admits must not be refused. They only
	// differ for Concurrency.
	fewest, most *model.Model
	// released are the checks of requests that hold places.
	released map[string][]Judged
	// doubtful are refusals from memory that the model admits when they were asked
	// for. What another request was charged before the answer may explain them.
	doubtful []Record
}

// moment replays what happened in one microsecond.
func (p *replay) moment(now int64, events []event) {
	for _, e := range events {
		switch {
		case e.what == released:
			p.release(p.fewest, e.record)
		case e.what != gone:
			p.report.count(e.record)
			p.requireAdmitting(now, e.record)
		}
	}
	for _, e := range events {
		if e.what <= recalled && e.record.Admitted {
			p.charge(now, e.record)
		}
	}
	for _, e := range events {
		switch e.what {
		case decided:
			p.requireRefusing(now, e.record)
		case recalled:
			if !p.refuses(now, e.record) {
				p.doubtful = append(p.doubtful, e.record)
			}
		case gone:
			p.release(p.most, e.record)
			p.report.Released++
		case released:
		}
	}
	p.settleDoubts(now)
}

func (p *replay) settleDoubts(now int64) {
	p.doubtful = slices.DeleteFunc(p.doubtful, func(record Record) bool {
		if now <= record.After {
			return p.refuses(now, record)
		}
		p.reject(record)
		return true
	})
}

func (p *replay) checkOf(record Record, judged Judged) model.Check {
	return model.Check{
		Limit: p.limits[judged.Limit].Limit, Identity: judged.Client, Cost: judged.Cost,
		Holder: holder(record.Worker, record.Number),
	}
}

func (p *replay) release(from *model.Model, record Record) {
	held := holder(record.Worker, record.Releases)
	for _, judged := range p.released[held] {
		check := p.checkOf(record, judged)
		check.Holder = held
		from.Release(check)
	}
}

// charge charges an admitted request to the limits that admit it: shadows may not.
func (p *replay) charge(now int64, record Record) {
	for _, judged := range record.Checks {
		if !judged.Admits {
			continue
		}
		check, limit := p.checkOf(record, judged), p.limits[judged.Limit]
		p.fewest.Charge(now, check)
		p.most.Charge(now, check)
		if limit.Algorithm == ruleset.Concurrency {
			p.released[check.Holder] = append(p.released[check.Holder], judged)
		}
		excess := p.fewest.Excess(now, check)
		p.report.used(judged.Limit, excess)
		if excess.Cmp(new(big.Rat).SetInt64(limit.Bound)) > 0 {
			p.report.add(OverAdmission, record, "limit %s admitted a cost of %d of client %s at %d, which the model refuses: %s over",
				judged.Limit, judged.Cost, judged.Client, now, decimal(excess))
		}
	}
}

// requireRefusing holds what refuses to the model, after all that was admitted in
// the same microsecond.
func (p *replay) requireRefusing(now int64, record Record) {
	for _, judged := range record.Checks {
		if !judged.Admits && !p.refusesOne(now, record, judged) {
			p.report.add(WrongRefusal, record, "limit %s refused a cost of %d of client %s at %d, which the model admits: %s free",
				judged.Limit, judged.Cost, judged.Client, now, free(p.most, now, p.checkOf(record, judged)))
		}
	}
}

// requireAdmitting holds the limits of a refused request that would admit it to the
// model, before all that was admitted in the same microsecond.
func (p *replay) requireAdmitting(now int64, record Record) {
	for _, judged := range record.Checks {
		check := p.checkOf(record, judged)
		if judged.Admits && !record.Admitted && !p.limits[judged.Limit].Leased && !p.fewest.Admits(now, check) {
			p.report.add(Misreported, record, "limit %s is said to admit a cost of %d of client %s at %d, which the model refuses: %s free",
				judged.Limit, judged.Cost, judged.Client, now, free(p.fewest, now, check))
		}
	}
}

func (p *replay) refuses(now int64, record Record) bool {
	for _, judged := range record.Checks {
		if !judged.Admits && !p.refusesOne(now, record, judged) {
			return false
		}
	}
	return true
}

// refusesOne says whether the model refuses, within the resolution of counters that
// count time in steps.
func (p *replay) refusesOne(now int64, record Record, judged Judged) bool {
	check := p.checkOf(record, judged)
	if p.limits[judged.Limit].Leased || !p.most.Admits(now, check) {
		return true
	}
	if check.Limit.Algorithm != ruleset.SlidingWindowCounter {
		return false
	}
	step := ruleset.StepMicros(check.Limit.Requests, check.Limit.WindowMicros)
	return step > 1 && !p.most.AdmitsBehind(now, 2*step, check)
}

// reject rejects a refusal from memory that nothing explains.
func (p *replay) reject(record Record) {
	p.report.add(WrongRefusal, record, "limit %s refused a cost of %d of client %s from memory between %d and %d, which the model admits",
		record.Checks[0].Limit, record.Checks[0].Cost, record.Checks[0].Client, record.Before, record.After)
}

func free(m *model.Model, now int64, check model.Check) string {
	excess := m.Excess(now, check)
	return decimal(excess.Neg(excess))
}

func decimal(r *big.Rat) string { return r.FloatString(3) }
