// Copyright The Penstock Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestCasesAreSubtestsWithoutSubtests(t *testing.T) {
	t.Parallel()
	const pkg = "github.com/penstock-dev/penstock/internal/match"
	path := suite{"path", "./internal/match", "TestPathTable", 3}
	tests := map[string]struct {
		passed []event
		want   int
		enough bool
	}{
		"none": {nil, 0, false},
		"the test itself is none": {
			[]event{{Action: "pass", Package: pkg, Test: "TestPathTable"}, {Action: "pass", Package: pkg, Test: "TestPathTable/a"}}, 1, false,
		},
		"groups are none": {
			[]event{
				{Action: "pass", Package: pkg, Test: "TestPathTable/loose/a"}, {Action: "pass", Package: pkg, Test: "TestPathTable/loose/b"},
				{Action: "pass", Package: pkg, Test: "TestPathTable/loose"}, {Action: "pass", Package: pkg, Test: "TestPathTable/c"},
			}, 3, true,
		},
		"of other packages and tests": {
			[]event{
				{Action: "pass", Package: pkg + "er", Test: "TestPathTable/a"}, {Action: "pass", Package: pkg, Test: "TestPathTables/a"},
				{Action: "pass", Package: "other", Test: "TestPathTable/a"},
			}, 0, false,
		},
		"failed": {[]event{{Action: "fail", Package: pkg, Test: "TestPathTable/a"}}, 0, false},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			counted := cases{passed: map[string]bool{}}
			for _, e := range tc.passed {
				counted.add(e)
			}
			if got := counted.of(path); got != tc.want {
				t.Errorf("of() = %d, want %d", got, tc.want)
			}
			var out strings.Builder
			if got := counted.print(&out, []suite{path}); got != tc.enough || strings.Contains(out.String(), "TOO FEW") == tc.enough {
				t.Errorf("print() = %v, want %v; it printed %s", got, tc.enough, &out)
			}
		})
	}
}

func TestArgumentsNameEachPackageOnce(t *testing.T) {
	t.Parallel()
	got := arguments([]suite{{"b", "./b", "TestB", 1}, {"a", "./a", "TestA", 1}, {"c", "./b", "TestC", 1}})
	if diff := cmp.Diff([]string{"-race", "-run=^(TestB|TestA|TestC)$", "./a", "./b"}, got); diff != "" {
		t.Errorf("arguments (-want +got):\n%s", diff)
	}
}
