// Copyright The Penstock Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
)

// fileProblem is something that is wrong in a file: file:line: field: message.
type fileProblem struct {
	file string
	// err may be a lineError, which says where.
	err error
}

func (p *fileProblem) Error() string {
	switch {
	case errors.Is(p.err, errUnreadable):
		// It names the file by itself.
		return p.err.Error()
	case p.line() > 0:
		return p.file + ":" + p.err.Error()
	default:
		return p.file + ": " + p.err.Error()
	}
}

func (p *fileProblem) Unwrap() error { return p.err }

// line is where it is; 0 if it is not about one line.
func (p *fileProblem) line() int {
	if at, ok := errors.AsType[*lineError](p.err); ok {
		return at.line
	}
	return 0
}

// fileError puts a file before what is wrong in it.
func fileError(file string, err error) error { return &fileProblem{file: file, err: err} }

// inOrder joins what is wrong in the order of the files and, within each, of the lines.
// It is nil if nothing is.
func inOrder(files []string, found ...error) error {
	problems := withoutYielding(flatten(nil, errors.Join(found...)))
	sortProblems(files, problems)
	ordered := make([]error, len(problems))
	for i, problem := range problems {
		ordered[i] = problem
	}
	return errors.Join(ordered...)
}

// withoutYielding drops errors of fields of which another error tells all.
func withoutYielding(problems []*fileProblem) []*fileProblem {
	told := make(map[string]bool)
	for _, p := range problems {
		if at, ok := errors.AsType[*lineError](p.err); ok && !at.yields {
			told[p.place()] = true
		}
	}
	return slices.DeleteFunc(problems, func(p *fileProblem) bool {
		at, ok := errors.AsType[*lineError](p.err)
		return ok && at.yields && told[p.place()]
	})
}

// place is the field that it is about.
func (p *fileProblem) place() string {
	at, _ := errors.AsType[*lineError](p.err)
	return fmt.Sprintf("%s:%d:%s", p.file, at.line, at.field)
}

func sortProblems(files []string, problems []*fileProblem) {
	places := make(map[string]int, len(files))
	for i, file := range files {
		places[file] = i
	}
	slices.SortStableFunc(problems, func(a, b *fileProblem) int {
		return cmp.Or(cmp.Compare(places[a.file], places[b.file]), cmp.Compare(a.line(), b.line()))
	})
}

// flatten appends the single problems of what was joined.
func flatten(to []*fileProblem, err error) []*fileProblem {
	if joined, ok := err.(interface{ Unwrap() []error }); ok {
		for _, inner := range joined.Unwrap() {
			to = flatten(to, inner)
		}
		return to
	}
	if problem, ok := errors.AsType[*fileProblem](err); ok {
		return append(to, problem)
	}
	if err != nil {
		panic(fmt.Sprintf("a problem of no file: %v", err))
	}
	return to
}
