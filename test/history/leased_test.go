// Copyright The Penstock Authors.
// SPDX-License-Identifier: Apache-2.0

package history

import (
	"flag"
	"fmt"
	"math/big"
	"testing"
	"time"

	"github.com/penstock-dev/penstock/test/redistest"
)

var leasedFor = flag.Duration("history.leased", 3*time.Second, "how long limits are spent from leases; more than a minute shows all windows end")

// TestLeasesStayWithinTheirBound has processes spend leases: they may admit more than
// exact counting does, by what leases are out at most.
func TestLeasesStayWithinTheirBound(t *testing.T) {
	const processes, every = 8, 2 * time.Millisecond
	server := redistest.Start(t)
	task := taskFor(server, processes, Leased)
	task.Every, task.Decisions = every, workersPerProcess*int64(*leasedFor/every)*2/5
	records := record(t, processes, task)
	limits := LeasedBy(processes)
	report := Check(limits, records)
	for _, problem := range report.Problems[:min(len(report.Problems), mostShown)] {
		t.Error(problem)
	}
	spent := 0
	for _, record := range records {
		if record.Admitted && record.fromMemory() {
			spent++
		}
	}
	if spent < len(records)/100 {
		t.Errorf("%d of %d requests were admitted from leases, want more", spent, len(records))
	}
	requireExpiries(t, server.Client(t))
	for _, name := range limits.Names() {
		over := report.Over[name]
		if over == nil {
			over = new(big.Rat)
		}
		fmt.Printf("history: leased, %s: %d per window, bound %d, over by %s\n", name, limits[name].Requests, limits[name].Bound, decimal(over))
	}
	fmt.Printf("history: leased, %d processes, %d decisions, %d of them from leases, beyond the bound %d\n",
		processes, len(records), spent, report.Count(OverAdmission))
}
