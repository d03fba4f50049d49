// Copyright The Penstock Authors.
// SPDX-License-Identifier: Apache-2.0

package main

// fault is one seeded fault: in file, old (which must occur once) becomes new, and
// the named test of pkg must turn red.
type fault struct {
	name      string
	file      string
	old, new  string
	pkg, test string
}

var faults = []fault{}
