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
	if f.check != nil {
		f.check(s)
	}
	s.finish()
}

// row is what happened in a lane since just before the fault.
func (s *scene) row(l *lane, name string) row {
	now := l.node.read()
	r := row{
		fault: name, mode: l.mode,
		calls: s.failedCalls(l) - l.failed, waited: now.Waited - l.before.Waited,
		errors: now.sum(undecided) - l.before.sum(undecided),
		// A share of Local holds for all of the time.
		admitted: now.sum(aloneAdmitted), refused: now.sum(aloneRefused),
		untilNormal: l.normal,
	}
	r.want = s.expects(l, max(1, now.Openings-l.before.Openings))
	return r
}

func undecided(c counts) int64     { return c.Undecided }
func aloneAdmitted(c counts) int64 { return c.AloneAdmitted }
func aloneRefused(c counts) int64  { return c.AloneRefused }
