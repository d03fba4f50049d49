// Copyright The Penstock Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"io"
	"slices"
	"strings"
)

// suite is a table of cases that must not shrink.
type suite struct {
	name string
	// pkg and test are where it is. A case is a subtest without subtests.
	pkg, test string
	least     int
}

// proxySuites are what `make test-proxy` runs.
var proxySuites = []suite{
	{"protocol", "./test/proxy", "TestProtocol", 40},
	{"smuggling", "./test/proxy", "TestSmuggling", 80},
	{"path", "./internal/match", "TestPathTable", 300},
	{"address", "./internal/match", "TestAddressTable", 100},
	{"header", "./internal/proxy", "TestHeaderTable", 60},
	{"matching", "./internal/match", "TestMatchingTable", 100},
	{"spelling, with real servers", "./test/proxy", "TestSpellings", 40},
	{"differential", "./test/proxy", "TestSameAnswersDirectAndThroughTheSidecar", 1},
	{"command line, login.yaml among them", "./cmd/penstock", "TestCommandLine", 6},
}

// arguments are those of go test for all suites at once, with the race detector.
func arguments(suites []suite) []string {
	var packages, tests []string
	for _, s := range suites {
		packages, tests = append(packages, s.pkg), append(tests, s.test)
	}
	slices.Sort(packages)
	return append([]string{"-race", "-run=^(" + strings.Join(tests, "|") + ")$"}, slices.Compact(packages)...)
}

// cases counts what has passed of each suite.
type cases struct{ passed map[string]bool }

func (c *cases) add(e event) {
	if e.Action == "pass" && strings.Contains(e.Test, "/") {
		c.passed[e.Package+" "+e.Test] = true
	}
}

// of is how many cases of a suite passed.
func (c *cases) of(s suite) int {
	parents, total := map[string]bool{}, 0
	mine := func(name string) bool {
		return strings.Contains(name, strings.TrimPrefix(s.pkg, ".")+" "+s.test+"/")
	}
	for name := range c.passed {
		parents[name[:strings.LastIndex(name, "/")]] = true
	}
	for name := range c.passed {
		if mine(name) && !parents[name] {
			total++
		}
	}
	return total
}

// print says how many cases each suite has, and whether all have enough.
func (c *cases) print(out io.Writer, suites []suite) bool {
	enough := true
	for _, s := range suites {
		found, verdict := c.of(s), ""
		if found < s.least {
			enough = false
			verdict = fmt.Sprintf("  TOO FEW: add cases to %s in %s", s.test, s.pkg)
		}
		fmt.Fprintf(out, "%4d %s cases passed, at least %d wanted%s\n", found, s.name, s.least, verdict)
	}
	return enough
}
