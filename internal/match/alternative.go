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
	case ready.kind == ruleset.PathTemplate:
		return ready, checkTemplate(ready.path)
	case ready.kind != ruleset.PathExact && ready.kind != ruleset.PathPrefix:
		return ready, fmt.Errorf("path match type %q is not known to this version", ready.kind)
	}
	return ready, nil
}

// met says how a request met a rule.
type met struct {
	// path is the first reading that met the rule; of a rule that looks at no path, the
	// first there is. It is empty where no rule of the policy looks at paths.
	path string
	// params are the segments that the rule's template names, in order. They hold until
	// the next rule is asked.
	params []PathParam
}

// meets reports whether any alternative of the rule holds for any reading, and how.
func (r *ruleMatcher) meets(request *request, paths []string) (met, bool) {
	if len(r.alternatives) == 0 {
		return met{path: firstOf(paths)}, true
	}
	for _, path := range paths {
		for i := range r.alternatives {
			if a := &r.alternatives[i]; a.holds(request) && a.holdsFor(path) {
				return a.metBy(request, path), true
			}
		}
	}
	if len(paths) > 0 {
		return met{}, false
	}
	// There is no reading: what looks at no path may still hold.
	for i := range r.alternatives {
		if a := &r.alternatives[i]; a.path == "" && a.holds(request) {
			return met{}, true
		}
	}
	return met{}, false
}

func firstOf(paths []string) string {
	if len(paths) == 0 {
		return ""
	}
	return paths[0]
}

func (a *alternative) metBy(request *request, path string) met {
	if a.kind != ruleset.PathTemplate || a.path == "" {
		return met{path: path}
	}
	return met{path: path, params: appendParams(request.params[:0], a.path, path)}
}

// holds reports whether all holds that is not about the path.
func (a *alternative) holds(request *request) bool {
	return len(a.methods) == 0 || slices.Contains(a.methods, request.view.Method())
}

// holdsFor reports whether a reading of the path is one that the alternative is for.
func (a *alternative) holdsFor(path string) bool {
	switch {
	case a.path == "":
		return true
	case a.kind == ruleset.PathExact:
		return path == a.path
	case a.kind == ruleset.PathTemplate:
		return fitsTemplate(a.path, path)
	default:
		return hasPathPrefix(path, a.path)
	}
}

// hasPathPrefix compares whole segments. The prefix "/" is every request's,
// also of those whose target is not a path.
func hasPathPrefix(path, prefix string) bool {
	if prefix == "/" {
		return true
	}
	return strings.HasPrefix(path, prefix) && (len(path) == len(prefix) || path[len(prefix)] == '/')
}
