// Copyright The Penstock Authors.
// SPDX-License-Identifier: Apache-2.0

package match

import (
	"fmt"
	"slices"
	"strings"

	"github.com/penstock-dev/penstock/internal/ruleset"
)

// alternative is one entry of a rule's matches.
type alternative struct {
	path    string
	kind    ruleset.PathMatchType
	methods []string
}

func compileAlternative(entry ruleset.Match) (alternative, error) {
	ready := alternative{methods: entry.Methods}
	if entry.Path == nil {
		return ready, nil
	}
	ready.kind, ready.path = entry.Path.Type, entry.Path.Value
	switch {
	case ready.path == "":
		return ready, fmt.Errorf("match of type %s has an empty path", ready.kind)
	case ready.kind == ruleset.PathPrefix && len(ready.path) > 1:
		// A prefix is of whole segments: the last slash says nothing.
		ready.path = strings.TrimSuffix(ready.path, "/")
	case ready.kind != ruleset.PathExact && ready.kind != ruleset.PathPrefix:
		return ready, fmt.Errorf("path match type %q is not known to this version", ready.kind)
	}
	return ready, nil
}

// meets reports whether any alternative of the rule holds for any reading.
func (r *ruleMatcher) meets(request *request, paths []string) bool {
	if len(r.alternatives) == 0 {
		return true
	}
	for i := range r.alternatives {
		if r.alternatives[i].holds(request.view.Method(), paths) {
			return true
		}
	}
	return false
}

func (a *alternative) holds(method string, paths []string) bool {
	if len(a.methods) > 0 && !slices.Contains(a.methods, method) {
		return false
	}
	if a.path == "" {
		return true
	}
	for _, path := range paths {
		if a.kind == ruleset.PathExact && path == a.path || a.kind == ruleset.PathPrefix && hasPathPrefix(path, a.path) {
			return true
		}
	}
	return false
}

// hasPathPrefix compares whole segments. The prefix "/" is every request's,
// also of those whose target is not a path.
func hasPathPrefix(path, prefix string) bool {
	if prefix == "/" {
		return true
	}
	return strings.HasPrefix(path, prefix) && (len(path) == len(prefix) || path[len(prefix)] == '/')
}
