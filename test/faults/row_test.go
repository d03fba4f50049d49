// Copyright The Penstock Authors.
// SPDX-License-Identifier: Apache-2.0

package faults

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/penstock-dev/penstock/internal/ruleset"
)

const (
	// mostCalls and mostWaiting are how many script calls may fail and how many
	// requests may wait for a deadline until the breaker opens.
	mostCalls, mostWaiting = 20, 200
	// mostUntilNormal is how long after a fault the store must decide again.
	mostUntilNormal = 10 * time.Second
)

// modes are what a rule may ask for.
var modes = []ruleset.OnStoreFailure{ruleset.FailAllow, ruleset.FailDeny, ruleset.FailLocal}

// row is what one sidecar did from just before a fault until all was normal again.
type row struct {
	fault string
	mode  ruleset.OnStoreFailure
	// calls are script calls that failed, probes apart.
	calls int64
	// waited are requests that were undecided after waiting for the deadline.
	waited int64
	// admitted and refused are the decisions that were made without the store.
	admitted, refused int64
	// errors are requests of which the store was asked and gave no verdict.
	errors      int64
	untilNormal time.Duration
	want        expected
}

// expected are bounds, each included.
type expected struct {
	calls, waited, admitted, refused, errors bounds
}

type bounds struct{ least, most int64 }

func exactly(count int64) bounds { return bounds{count, count} }
func atMost(count int64) bounds  { return bounds{0, count} }

// endless stands for no upper bound.
const endless = 1 << 62

func (b bounds) hold(count int64) bool { return b.least <= count && count <= b.most }

func (b bounds) String() string {
	switch {
	case b.least == b.most:
		return fmt.Sprint("= ", b.most)
	case b.most == endless:
		return fmt.Sprint(">= ", b.least)
	case b.least == 0:
		return fmt.Sprint("<= ", b.most)
	default:
		return fmt.Sprint(b.least, " to ", b.most)
	}
}

// misses are the names of what is out of its bounds.
func (r row) misses() []string {
	var missed []string
	for _, cell := range r.cells() {
		if !cell.want.hold(cell.got) {
			missed = append(missed, fmt.Sprintf("%s %d, want %v", cell.name, cell.got, cell.want))
		}
	}
	if r.untilNormal > mostUntilNormal {
		missed = append(missed, fmt.Sprintf("normal after %v, want at most %v", r.untilNormal, mostUntilNormal))
	}
	return missed
}

type cell struct {
	name string
	got  int64
	want bounds
}

func (r row) cells() []cell {
	return []cell{
		{"calls", r.calls, r.want.calls},
		{"waited", r.waited, r.want.waited},
		{"admitted", r.admitted, r.want.admitted},
		{"refused", r.refused, r.want.refused},
		{"errors", r.errors, r.want.errors},
	}
}

// table gathers the rows of all faults.
type table struct {
	mu   sync.Mutex
	rows []row
}

func (t *table) add(added row) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.rows = append(t.rows, added)
}

// missing are the faults and modes of which there is no row.
func (t *table) missing(faults []string) []string {
	var found []string
	for _, fault := range faults {
		for _, mode := range modes {
			if !slices.ContainsFunc(t.rows, func(r row) bool { return r.fault == fault && r.mode == mode }) {
				found = append(found, fmt.Sprint(fault, " with ", mode))
			}
		}
	}
	return found
}

// print writes the rows in the order of the faults.
func (t *table) print(to io.Writer, faults []string) {
	fmt.Fprintf(to, "%-34s %-6s %-18s %-18s %-22s %-22s %-18s %s\n",
		"fault", "mode", "calls failed", "waited", "admitted alone", "refused alone", "errors", "seconds until normal")
	slices.SortStableFunc(t.rows, func(a, b row) int {
		return slices.Index(faults, a.fault)*len(modes) + slices.Index(modes, a.mode) -
			slices.Index(faults, b.fault)*len(modes) - slices.Index(modes, b.mode)
	})
	for _, r := range t.rows {
		line := fmt.Sprintf("%-34s %-6s", r.fault, r.mode)
		for i, cell := range r.cells() {
			line += fmt.Sprintf(" %-*s", []int{18, 18, 22, 22, 18}[i], fmt.Sprintf("%d (%v)", cell.got, cell.want))
		}
		line += fmt.Sprintf(" %.2f (<= %.0f)", r.untilNormal.Seconds(), mostUntilNormal.Seconds())
		if missed := r.misses(); len(missed) > 0 {
			line += "  MISSED: " + strings.Join(missed, "; ")
		}
		fmt.Fprintln(to, line)
	}
}
