// Copyright The Penstock Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"io"
	"strings"
)

// event is a line of `go test -json`, see `go doc test2json`.
type event struct {
	Action     string
	Package    string
	ImportPath string
	Test       string
	Output     string
	Elapsed    float64
}

// results collects events and prints packages as they end.
type results struct {
	out          io.Writer
	output       map[string][]string
	passed       int
	failed       int
	perPackage   map[string]int
	skippedNames []string
	cases        cases
}

func newResults(out io.Writer) *results {
	return &results{out: out, output: map[string][]string{}, perPackage: map[string]int{}, cases: cases{passed: map[string]bool{}}}
}

func (r *results) add(e event) {
	name := e.Package + "." + e.Test
	r.cases.add(e)
	switch e.Action {
	case "output":
		r.output[name] = append(r.output[name], e.Output)
	case "build-output":
		fmt.Fprint(r.out, e.Output)
	case "pass":
		r.end(e, name, &r.passed)
	case "fail":
		fmt.Fprintf(r.out, "--- output of %s\n%s", strings.TrimSuffix(name, "."), strings.Join(r.output[name], ""))
		r.end(e, name, &r.failed)
	case "skip":
		if e.Test != "" {
			r.skippedNames = append(r.skippedNames, name)
		}
		delete(r.output, name)
	}
}

func (r *results) end(e event, name string, counter *int) {
	delete(r.output, name)
	if e.Test != "" {
		*counter++
		r.perPackage[e.Package]++
		return
	}
	verdict := "ok  "
	if e.Action == "fail" {
		verdict = "FAIL"
		if r.perPackage[e.Package] == 0 {
			// It did not build, or died before its first test ended.
			*counter++
		}
	}
	fmt.Fprintf(r.out, "%s %-60s %4d tests %6.1fs\n", verdict, strings.TrimPrefix(e.Package, "github.com/penstock-dev/"), r.perPackage[e.Package], e.Elapsed)
}
