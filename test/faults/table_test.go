// Copyright The Penstock Authors.
// SPDX-License-Identifier: Apache-2.0

package faults

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/penstock-dev/penstock/internal/ruleset"
)

// TestTheTableMissesNothing holds the table itself to what it says.
func TestTheTableMissesNothing(t *testing.T) {
	t.Parallel()
	want := expected{calls: atMost(20), waited: atMost(200), admitted: bounds{5, 7}, refused: exactly(0), errors: bounds{1, endless}}
	good := row{fault: "one", mode: ruleset.FailAllow, calls: 20, waited: 200, admitted: 7, errors: 1, want: want}
	tests := map[string]struct {
		change func(*row)
		want   []string
	}{
		"within":    {change: func(*row) {}},
		"calls":     {change: func(r *row) { r.calls++ }, want: []string{"calls 21, want <= 20"}},
		"waited":    {change: func(r *row) { r.waited++ }, want: []string{"waited 201, want <= 200"}},
		"too many":  {change: func(r *row) { r.admitted++ }, want: []string{"admitted 8, want 5 to 7"}},
		"too few":   {change: func(r *row) { r.admitted = 4 }, want: []string{"admitted 4, want 5 to 7"}},
		"refused":   {change: func(r *row) { r.refused++ }, want: []string{"refused 1, want = 0"}},
		"no errors": {change: func(r *row) { r.errors = 0 }, want: []string{"errors 0, want >= 1"}},
		"slow": {
			change: func(r *row) { r.untilNormal = mostUntilNormal + time.Second },
			want:   []string{"normal after 11s, want at most 10s"},
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			changed := good
			tc.change(&changed)
			if diff := cmp.Diff(tc.want, changed.misses()); diff != "" {
				t.Errorf("misses (-want +got):\n%s", diff)
			}
			filled := table{rows: []row{changed}}
			var printed strings.Builder
			filled.print(&printed, []string{"one"})
			if strings.Contains(printed.String(), "MISSED") != (len(tc.want) > 0) {
				t.Errorf("printed:\n%s", printed.String())
			}
			missing := filled.missing([]string{"one", "two"})
			if len(missing) != 5 || slices.Contains(missing, "one with Allow") {
				t.Errorf("missing: %q, want all but one with Allow", missing)
			}
		})
	}
}
