// Copyright The Penstock Authors.
// SPDX-License-Identifier: Apache-2.0

package faults

import (
	"strings"
	"testing"
	"time"

	"github.com/penstock-dev/penstock/test/redistest"
)

// outcome is what a fault does to the store's decisions.
type outcome int

const (
	// gone: none are made, the breaker opens.
	gone outcome = iota
	// shaken: some are made. The breaker may open.
	shaken
	// unharmed: every one is made.
	unharmed
)

// fault is something bad that happens to a store or on the way to it.
type fault struct {
	// store makes the store's servers; nil makes one, with these options.
	store  func(*scene)
	server []redistest.Option
	// badNetwork has a proxy before the store that can be made bad.
	badNetwork bool
	// stepsClock has the store show a clock that can step.
	stepsClock bool
	// username is the user of the sidecars; empty is the default one.
	username string
	// ownProcess runs each sidecar in a process of its own.
	ownProcess bool
	// deadline is that of each decision; 0 is the product's default.
	deadline time.Duration
	// fromStart has the fault begin before the sidecars start.
	fromStart bool
	// losses is how often the store loses its counts.
	losses     int64
	outcome    outcome
	begin, end func(*scene)
	// suffers says which counters the fault is for: it changes nothing for the others.
	// Nil: all.
	suffers func(*scene, counter) bool
	// check looks at what is particular to the fault, before the sidecars end. It
	// may be nil.
	check func(*scene)
}

// run has the sidecars meet the fault, and adds a row for each.
func (f fault) run(t *testing.T, name string, results *table) {
	t.Helper()
	s := newScene(t, f)
	if f.fromStart {
		f.begin(s)
	}
	s.start()
	if !f.fromStart {
		s.eventually("the store decides and refuses", func() bool {
			return s.eachCounter(func(c counter, now, _ counts) bool {
				return now.store() >= 5 && (c.name != scarce || now.StoreRefused > 0)
			})
		})
		s.awaitQuiet()
		f.begin(s)
	}
	s.awaitEffect()
	f.end(s)
	s.awaitNormal()
	for _, l := range s.lanes {
		r := s.row(l, name)
		results.add(r)
		if missed := r.misses(); len(missed) > 0 {
			t.Errorf("%s: %s; in all: %+v, %+v", l.mode, strings.Join(missed, "; "), l.node.read(), s.ways[0].tap.read(namespaceOf(l.mode)))
		}
	}
	s.remember()
	s.awaitWork("the store goes on deciding after the fault", 10)
	s.checkConnections()
	if f.check != nil {
		f.check(s)
	}
	s.finish()
}

// row is what happened in a lane since just before the fault, to the counters that the
// fault is for.
func (s *scene) row(l *lane, name string) row {
	s.t.Helper()
	now := l.node.read()
	s.checkOthers(l, now)
	r := row{
		fault: name, mode: l.mode,
		calls: s.failedCalls(l) - l.failed, waited: now.Waited - l.before.Waited,
		errors: s.sum(now, undecided) - s.sum(l.before, undecided),
		// A share of Local holds for all of the time.
		admitted: s.sum(now, aloneAdmitted), refused: s.sum(now, aloneRefused),
		untilNormal: l.normal,
	}
	r.want = s.expects(l, now.Openings-l.before.Openings)
	return r
}

// checkOthers looks at the counters that the fault is not for.
func (s *scene) checkOthers(l *lane, now report) {
	s.t.Helper()
	for counter, suffers := range s.suffering {
		got, before := now.Counters[counter], l.before.Counters[counter]
		if !suffers && got.Undecided+got.alone() > before.Undecided+before.alone() {
			s.t.Errorf("%s, %s: %+v, before %+v: want nothing undecided, since the fault was elsewhere", l.mode, counter, got, before)
		}
	}
}

// sum is how many decisions there were on the counters that the fault is for.
func (s *scene) sum(of report, which func(counts) int64) (total int64) {
	for counter, suffers := range s.suffering {
		if suffers {
			total += which(of.Counters[counter])
		}
	}
	return total
}

func undecided(c counts) int64     { return c.Undecided }
func aloneAdmitted(c counts) int64 { return c.AloneAdmitted }
func aloneRefused(c counts) int64  { return c.AloneRefused }
