// Copyright The Penstock Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import "fmt"

// lineError is an error at a line of a file.
type lineError struct {
	line  int
	field string
	err   error
	// yields says that another error of the same field tells all that this one does.
	yields bool
}

func (e *lineError) Error() string {
	if e.field == "" {
		return fmt.Sprintf("%d: %v", e.line, e.err)
	}
	return fmt.Sprintf("%d: %s: %v", e.line, e.field, e.err)
}

func (e *lineError) Unwrap() error { return e.err }
