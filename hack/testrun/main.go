// Copyright The Penstock Authors.
// SPDX-License-Identifier: Apache-2.0

// Command testrun runs `go test` on the packages that it is given, prints what
// failed in full and what passed in a line per package, and ends with the
// numbers of tests. A skipped test fails the run: a missing dependency must be
// installed, not passed over. Flags before the packages go to `go test`. With
// -proxy-suites instead of packages it runs the tables of cases of the request path,
// and fails where one of them has become too short.
package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
)

// fieldsSummary names the file to which the test of the CRDs' fields writes its
// last line, so that it can be shown at the end of a run.
const fieldsSummary = "PENSTOCK_FIELDS_SUMMARY"

func main() {
	var suites []suite
	given := os.Args[1:]
	if len(given) == 1 && given[0] == "-proxy-suites" {
		suites, given = proxySuites, arguments(proxySuites)
	}
	code, err := run(given, suites, os.Stdout)
	if err != nil {
		fmt.Fprintln(os.Stderr, "testrun:", err)
	}
	os.Exit(code)
}

func run(arguments []string, suites []suite, out io.Writer) (int, error) {
	scratch, err := os.MkdirTemp("", "penstock-testrun-")
	if err != nil {
		return 1, err
	}
	defer os.RemoveAll(scratch)
	summaryFile := filepath.Join(scratch, "fields")

	command := exec.Command("go", append([]string{"test", "-json", "-count=1", "-timeout=20m"}, arguments...)...)
	command.Env = append(os.Environ(), fieldsSummary+"="+summaryFile)
	command.Stderr = os.Stderr
	// An interrupt reaches the whole process group; wait for go test to end, so
	// that the tests' own clean-up is not cut short.
	signal.Ignore(os.Interrupt, syscall.SIGTERM)
	events, err := command.StdoutPipe()
	if err != nil {
		return 1, err
	}
	if err := command.Start(); err != nil {
		return 1, fmt.Errorf("start go test: %w", err)
	}
	results := newResults(out)
	readErr := results.read(events)
	waitErr := command.Wait()
	if readErr != nil {
		return 1, readErr
	}
	code := results.finish(waitErr, summaryFile)
	if !results.cases.print(out, suites) {
		code = 1
	}
	return code, nil
}

func (r *results) read(events io.Reader) error {
	lines := bufio.NewReader(events)
	for {
		line, err := lines.ReadBytes('\n')
		if len(line) > 0 {
			var e event
			if json.Unmarshal(line, &e) == nil {
				r.add(e)
			} else {
				fmt.Fprint(r.out, string(line))
			}
		}
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return fmt.Errorf("read the output of go test: %w", err)
		}
	}
}

// finish prints the totals and returns the exit code.
func (r *results) finish(waitErr error, summaryFile string) int {
	for _, name := range r.skippedNames {
		fmt.Fprintf(r.out, "SKIPPED %s\n", name)
	}
	fmt.Fprintf(r.out, "\n%d passed, %d failed, %d skipped\n", r.passed, r.failed, len(r.skippedNames))
	if fields, err := os.ReadFile(summaryFile); err == nil {
		fmt.Fprintln(r.out, strings.TrimSpace(string(fields)))
	}
	if waitErr != nil || r.failed > 0 || len(r.skippedNames) > 0 || r.passed == 0 {
		return 1
	}
	return 0
}
