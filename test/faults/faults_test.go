// Copyright The Penstock Authors.
// SPDX-License-Identifier: Apache-2.0

package faults

import (
	"flag"
	"maps"
	"os"
	"slices"
	"strings"
	"testing"
)

// wanted are the faults of which there must be a row for each mode, in the order
// of the table.
var wanted = []string{
	"SIGSTOP, SIGCONT",
	"connection refused",
	"black hole",
	"reply cut in the middle",
	"reply cut now and then",
	"reset before the reply",
	"latency below the deadline",
	"latency above the deadline",
	"jitter below the deadline",
	"jitter above the deadline",
	"jitter across the deadline",
	"SCRIPT FLUSH",
	"FLUSHALL",
	"restart",
	"CLIENT PAUSE",
	"maxmemory reached",
	"primary turned replica",
	"Sentinel failover",
	"Cluster slot migration",
	"loss of one Cluster node",
	"Redis absent at start",
	"wrong password",
	"clock back an hour",
	"clock forward a day",
	"CPU pause of the client",
}

func allFaults() map[string]fault {
	all := make(map[string]fault)
	for _, some := range []map[string]fault{storeFaults(), networkFaults(), clockFaults(), pauseFaults(), sentinelFaults(), clusterFaults()} {
		maps.Copy(all, some)
	}
	return all
}

func TestFaults(t *testing.T) {
	results := &table{}
	t.Run("fault", func(t *testing.T) {
		all := allFaults()
		if known := slices.Sorted(maps.Keys(all)); len(known) != len(wanted) {
			t.Errorf("%d faults are known, want the %d wanted: %q", len(known), len(wanted), known)
		}
		for _, name := range wanted {
			t.Run(name, func(t *testing.T) {
				t.Parallel()
				f, known := all[name]
				if !known {
					t.Fatal("there is no such fault")
				}
				f.run(t, name, results)
			})
		}
	})
	results.print(os.Stdout, wanted)
	if missing := results.missing(wanted); len(missing) > 0 && !selected() {
		t.Errorf("rows are missing: %q", missing)
	}
}

// selected says that someone asked for some of the faults only.
func selected() bool {
	return strings.Contains(flag.Lookup("test.run").Value.String(), "/")
}
