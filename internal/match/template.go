// Copyright The Penstock Authors.
// SPDX-License-Identifier: Apache-2.0

package match

import (
	"errors"
	"fmt"
	"strings"

	"github.com/penstock-dev/penstock/internal/ruleset"
)

// PathParam is a segment of a path that a template names.
type PathParam struct {
	Name string
	// Value is the segment in canonical form.
	Value string
}

// parameterOf is the name in a template's segment of the form {name}.
func parameterOf(segment string) (name string, isParameter bool) {
	if len(segment) < 3 || segment[0] != '{' || segment[len(segment)-1] != '}' {
		return "", false
	}
	return segment[1 : len(segment)-1], true
}

// checkTemplate refuses a template that could never match or whose parameters cannot
// be told apart.
func checkTemplate(template string) error {
	seen := make(map[string]bool)
	for segment := range strings.SplitSeq(template, "/") {
		name, isParameter := parameterOf(segment)
		if !isParameter {
			if strings.ContainsAny(segment, "{}") {
				return fmt.Errorf("template %q: segment %q is neither literal nor a {parameter}, which is a whole segment; write one such as {id}, or type: RegularExpression", template, segment)
			}
			continue
		}
		if seen[name] {
			return fmt.Errorf("template %q names {%s} twice; give one of them another name", template, name)
		}
		seen[name] = true
	}
	return nil
}

// fitsTemplate compares segment by segment; a parameter stands for any segment that is
// not empty. A path that does not begin with a slash is no path of segments.
func fitsTemplate(template, path string) bool {
	if !strings.HasPrefix(path, "/") {
		return false
	}
	for more := true; more; {
		var wanted, segment string
		var moreOfPath bool
		wanted, template, more = strings.Cut(template, "/")
		segment, path, moreOfPath = strings.Cut(path, "/")
		if more != moreOfPath {
			return false
		}
		if _, isParameter := parameterOf(wanted); isParameter && segment != "" {
			continue
		}
		if wanted != segment {
			return false
		}
	}
	return true
}

// appendParams appends the parameters of a path that fits the template.
func appendParams(params []PathParam, template, path string) []PathParam {
	for more := true; more; {
		var wanted, segment string
		wanted, template, more = strings.Cut(template, "/")
		segment, path, _ = strings.Cut(path, "/")
		if name, isParameter := parameterOf(wanted); isParameter {
			params = append(params, PathParam{Name: name, Value: segment})
		}
	}
	return params
}

// CanonicalTemplate returns a template as paths are compared with it. What is literal
// is brought into canonical form as CanonicalPattern does, and parameters keep their
// names.
func CanonicalTemplate(template string, matching ruleset.PathMatching) (string, error) {
	if err := checkTemplate(template); err != nil {
		return "", err
	}
	// Parameters stand aside as text that is canonical and occurs nowhere else.
	mark := "~"
	for strings.Contains(template, mark) {
		mark += "~"
	}
	segments := strings.Split(template, "/")
	var names []string
	for i, segment := range segments {
		if _, isParameter := parameterOf(segment); isParameter {
			segments[i] = fmt.Sprintf("%s%d-", mark, i)
			names = append(names, segments[i], segment)
		}
	}
	restore := strings.NewReplacer(names...)
	canonical, err := CanonicalPattern(strings.Join(segments, "/"), matching)
	if err != nil {
		return "", errors.New(restore.Replace(err.Error()))
	}
	return restore.Replace(canonical), nil
}
