// Copyright The Penstock Authors.
// SPDX-License-Identifier: Apache-2.0

package limiter

import "time"

// correctionKind says in which direction a correction goes, as correct.lua has it.
type correctionKind string

const (
	// giveBack returns what was charged too much, as far as it still counts; places
	// of a Concurrency limit it gives back.
	giveBack correctionKind = "back"
	// chargeLate charges what was not known before the answer; places it renews.
	chargeLate correctionKind = "late"
)

// correction changes what a limit was charged earlier. Corrections are sent once, but
// for releases, and nobody waits for them: a lost one is counted.
type correction struct {
	kind correctionKind
	// namespace, identity and limit are of whom and what was charged, and name is
	// where that stands in the store.
	namespace, identity, limit, name string
	// plan has what is to be corrected as its cost.
	plan plan
	// charged is when, by the store's clock in microseconds, and stand how the limit
	// stood then.
	charged int64
	stand   standing
	// until is how long a release is tried again.
	until time.Time
}

// apply is the corrected state.
func (c *correction) apply(stored state, now int64) state {
	if c.kind == giveBack {
		return c.plan.back(stored, c.stand, c.charged, now)
	}
	return c.plan.late(stored, now)
}

func (c *correction) appendArguments(arguments []any) []any {
	return c.plan.appendCorrection(append(arguments, string(c.kind), c.charged), c.stand)
}
