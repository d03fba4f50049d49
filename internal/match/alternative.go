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
	path       string
	kind       ruleset.PathMatchType
	expression regularExpression
	methods    []string
	hosts      []string
	headers    []condition
	query      []condition
}

func compileAlternative(entry ruleset.Match, matching ruleset.PathMatching) (alternative, error) {
	ready := alternative{methods: entry.Methods, hosts: entry.Hosts}
	if err := checkHosts(entry.Hosts); err != nil {
		return ready, err
	}
	var err error
	if ready.headers, err = compileHeaderConditions(entry.Headers); err != nil {
		return ready, err
	}
	if ready.query, err = compileConditions(entry.QueryParams); err != nil {
		return ready, err
	}
	if entry.Path == nil {
		return ready, nil
	}
	return ready, ready.compilePath(entry.Path, matching)
}

func (a *alternative) compilePath(path *ruleset.PathMatch, matching ruleset.PathMatching) error {
	a.kind, a.path = path.Type, path.Value
	if a.path == "" {
		return fmt.Errorf("match of type %s has an empty path", a.kind)
	}
	switch a.kind {
	case ruleset.PathExact:
	case ruleset.PathPrefix:
		if len(a.path) > 1 {
			// A prefix is of whole segments: the last slash says nothing.
			a.path = strings.TrimSuffix(a.path, "/")
		}
	case ruleset.PathTemplate:
		return checkTemplate(a.path)
	case ruleset.PathRegularExpression:
		var err error
		a.expression, err = compilePathExpression(a.path, matching)
		return err
	default:
		return fmt.Errorf("path match type %q is not known to this version", a.kind)
	}
	return nil
}

// met says how a request met a rule.
type met struct {
	// path is the first reading that met the rule; of a rule that looks at no path, the
	// first there is. It is empty where no rule of the policy looks at paths.
	path string
	// params are the segments that the rule's template names, in order. They hold until
	// the next rule is asked.
	params []PathParam
	// inDoubt says that some app may read the request in a way that does not meet the
	// rule, as one that takes another of two values.
	inDoubt bool
}

// meets reports whether any alternative of the rule holds for any reading, and how.
func (r *ruleMatcher) meets(request *request, paths []string) (met, bool) {
	if r.keyedByPath && len(paths) == 0 {
		// The path has no reading, and this is a shadow: others refuse the request.
		return met{}, false
	}
	if len(r.alternatives) == 0 {
		return met{path: firstOf(paths)}, true
	}
	best, meets := met{}, false
	for i := range max(len(paths), 1) {
		for j := range r.alternatives {
			a := &r.alternatives[j]
			if a.path != "" && !a.holdsFor(paths, i) {
				continue
			}
			holds, surely := a.holds(request)
			surely = surely && a.knows(paths, i)
			if !holds || meets && !surely {
				continue
			}
			if !meets {
				best = a.metBy(request, firstOf(paths[min(i, len(paths)):]))
			}
			if meets, best.inDoubt = true, !surely; surely {
				return best, true
			}
		}
	}
	return best, meets
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

// holds reports whether all that is not about the path holds to some app, and whether
// it does to every app.
func (a *alternative) holds(request *request) (holds, surely bool) {
	if len(a.methods) > 0 && !slices.Contains(a.methods, request.view.Method()) {
		return false, false
	}
	if len(a.hosts) > 0 && !a.holdsForHost(request.hostName()) {
		return false, false
	}
	surely = true
	for i := range a.headers {
		holds, sure := a.headers[i].holdsForHeader(request)
		if !holds {
			return false, false
		}
		surely = surely && sure
	}
	for i := range a.query {
		holds, sure := a.query[i].holdsForQuery(request.query())
		if !holds {
			return false, false
		}
		surely = surely && sure
	}
	return true, surely
}

// knows reports whether a path that holds is known to: an expression does not look at
// very long ones.
func (a *alternative) knows(paths []string, i int) bool {
	return a.kind != ruleset.PathRegularExpression || i >= len(paths) || len(paths[i]) <= maxRead
}

func (a *alternative) holdsForHost(host string) bool {
	return slices.ContainsFunc(a.hosts, func(pattern string) bool { return FitsHost(pattern, host) })
}

// holdsFor reports whether a reading of the path, if there is one, is one that the
// alternative is for.
func (a *alternative) holdsFor(paths []string, i int) bool {
	if i >= len(paths) {
		return false
	}
	switch a.kind {
	case ruleset.PathExact:
		return paths[i] == a.path
	case ruleset.PathTemplate:
		return fitsTemplate(a.path, paths[i])
	case ruleset.PathRegularExpression:
		matches, _ := a.expression.matches(paths[i])
		return matches
	default:
		return hasPathPrefix(paths[i], a.path)
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
