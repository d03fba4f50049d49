// Copyright The Penstock Authors.
// SPDX-License-Identifier: Apache-2.0

package match

import (
	"flag"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/penstock-dev/penstock/internal/ruleset"
)

var update = flag.Bool("update", false, "write what is read of paths into testdata/paths.txt")

const (
	pathTable = "testdata/paths.txt"
	// leastPathCases is how many cases the table of paths has at least.
	leastPathCases = 320
)

// pathCase is a line of the table.
type pathCase struct {
	matching ruleset.PathMatching
	target   string
	// meets are the paths whose rules the target must meet.
	meets []string
	// outcome is the rest of the line: what the target is and how it is read.
	outcome string
}

// TestPathTable has spellings of paths that slip past limits elsewhere: each must have
// the path that apps make of it among its readings.
func TestPathTable(t *testing.T) {
	t.Parallel()
	if *update {
		updatePathTable(t)
	}
	cases := readPathCases(t)
	if len(cases) < leastPathCases {
		t.Errorf("the table has %d cases, want at least %d", len(cases), leastPathCases)
	}
	t.Logf("paths: %d cases", len(cases))
	for _, tc := range cases {
		t.Run(fmt.Sprintf("%s %q", tc.matching, tc.target), func(t *testing.T) {
			t.Parallel()
			read, err := readTarget(tc.target, tc.matching)
			if got := pathOutcome(&read, err); got != tc.outcome {
				t.Errorf("the target is | %s\nwant          | %s", got, tc.outcome)
			}
			if refused := err != nil; refused != (len(tc.meets) == 0) {
				t.Errorf("refused: %t (%v), must meet %q", refused, err, tc.meets)
			}
			for _, path := range tc.meets {
				if !slices.Contains(read.all(), path) {
					t.Errorf("readings are %q, want %q among them", read.all(), path)
				}
			}
		})
	}
}

// pathOutcome is how the table writes what became of a target.
func pathOutcome(read *readings, err error) string {
	if err != nil {
		return "refused | " + strings.TrimPrefix(err.Error(), ErrBadPath.Error()+": ")
	}
	outcome := "other |"
	if read.canonical {
		outcome = "canonical |"
	}
	for _, path := range read.all() {
		outcome += " " + strconv.Quote(path)
	}
	return outcome
}

func readPathCases(t *testing.T) []pathCase {
	t.Helper()
	var cases []pathCase
	eachPathLine(t, func(_ string, tc *pathCase) {
		if tc != nil {
			cases = append(cases, *tc)
		}
	})
	return cases
}

// updatePathTable writes the outcomes anew.
func updatePathTable(t *testing.T) {
	t.Helper()
	var out strings.Builder
	eachPathLine(t, func(line string, tc *pathCase) {
		if tc != nil {
			read, err := readTarget(tc.target, tc.matching)
			columns := strings.SplitN(line, " |", 3)
			line = columns[0] + " |" + columns[1] + " | " + pathOutcome(&read, err)
		}
		out.WriteString(line + "\n")
	})
	if err := os.WriteFile(pathTable, []byte(strings.TrimSuffix(out.String(), "\n")), 0o644); err != nil {
		t.Fatal(err)
	}
}

// eachPathLine calls found with each line of the table, and with its case if it is one.
func eachPathLine(t *testing.T, found func(line string, tc *pathCase)) {
	t.Helper()
	text, err := os.ReadFile(pathTable)
	if err != nil {
		t.Fatal(err)
	}
	matching := ruleset.PathLoose
	for number, line := range strings.Split(string(text), "\n") {
		switch {
		case line == "" || line[0] == '#':
			found(line, nil)
		case line[0] == '[':
			matching = ruleset.PathMatching(strings.Trim(line, "[]"))
			found(line, nil)
		default:
			tc, err := parsePathCase(line)
			if err != nil {
				t.Fatalf("%s, line %d: %v", pathTable, number+1, err)
			}
			tc.matching = matching
			found(line, &tc)
		}
	}
}

func parsePathCase(line string) (pathCase, error) {
	columns := strings.SplitN(line, " |", 3)
	if len(columns) != 3 {
		return pathCase{}, fmt.Errorf("%d columns, want 4", len(columns))
	}
	target, err := strconv.Unquote(columns[0])
	if err != nil {
		return pathCase{}, fmt.Errorf("target %s: %w", columns[0], err)
	}
	meets, err := parseLines(strings.TrimSpace(columns[1]))
	if err != nil {
		return pathCase{}, err
	}
	return pathCase{target: target, meets: meets, outcome: strings.TrimSpace(columns[2])}, nil
}

func readTarget(target string, matching ruleset.PathMatching) (readings, error) {
	var read readings
	err := read.readTarget(target, matching)
	return read, err
}
