// Copyright The Penstock Authors.
// SPDX-License-Identifier: Apache-2.0

package compile

import (
	"regexp"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

const (
	maxHeaderName = 63
	maxMethod     = 63
)

var (
	// headerName is a token of RFC 9110, section 5.6.2, as the schema has it.
	headerName = regexp.MustCompile("^[A-Za-z0-9!#$%&'*+.^_|~-]+$")
	methodName = regexp.MustCompile("^[A-Z][A-Z0-9_-]*$")
)

// oneOf wants one of the values, and reports whether it is; an empty value among them
// makes the field optional.
func oneOf(found *findings, at *field.Path, value string, values ...string) bool {
	if slices.Contains(values, value) {
		return true
	}
	named := slices.DeleteFunc(slices.Clone(values), func(v string) bool { return v == "" })
	if value == "" {
		found.invalid(at, "is empty: write one of %s", strings.Join(named, ", "))
		return false
	}
	found.invalid(at, "%q is not known: write one of %s", value, strings.Join(named, ", "))
	return false
}

// atMost bounds the length of a list.
func atMost(found *findings, at *field.Path, length, bound int) {
	if length > bound {
		found.invalid(at, "has %d entries, at most %d are allowed: remove some", length, bound)
	}
}

// names checks the names of a list's entries: DNS-1123 labels, each there once.
type names struct {
	found *findings
	seen  map[string]bool
}

func newNames(found *findings) names { return names{found: found, seen: make(map[string]bool)} }

func (n names) check(at *field.Path, name string) {
	if name == "" {
		n.found.invalid(at, "is missing: write a name of lower case letters, digits and hyphens")
		return
	}
	if errs := validation.IsDNS1123Label(name); len(errs) > 0 {
		n.found.invalid(at, "%q is not a name: write at most 63 lower case letters, digits and hyphens, with a letter or digit first and last", name)
		return
	}
	if n.seen[name] {
		n.found.invalid(at, "%q is the name of an entry before it: give this one another", name)
	}
	n.seen[name] = true
}
