// Copyright The Penstock Authors.
// SPDX-License-Identifier: Apache-2.0

package compile

import (
	"fmt"
	"strings"

	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/penstock-dev/penstock/api/v1alpha1"
)

// checkPathParam wants a parameter in the templates of all matches of its rule: for a
// request that meets another one it would be missing without anyone noticing.
func checkPathParam(name string, matches []v1alpha1.Match, at *field.Path, found *findings) {
	unresolved := func(format string, args ...any) {
		found.add(v1alpha1.Problem{Field: at.String(), Reason: v1alpha1.ReasonUnresolvedPathParam, Message: fmt.Sprintf(format, args...)})
	}
	if len(matches) == 0 {
		unresolved("%q is named by no template, since the rule has no matches: add one with a path of type Template that has {%s}", name, name)
		return
	}
	for i := range matches {
		path := matches[i].Path
		if path == nil || path.Type != v1alpha1.PathMatchTemplate || !namesParam(path.Value, name) {
			if path != nil && path.Type == v1alpha1.PathMatchTemplate {
				if meant := paramMeant(path.Value, name); meant != "" {
					unresolved("%q is not named by matches[%d], whose template has %s: write {%s} there, with nothing beside the name", name, i, meant, name)
					return
				}
			}
			unresolved("%q is not named by matches[%d]: give that a path of type Template that has {%s}, or make it a rule of its own", name, i, name)
			return
		}
	}
}

// paramMeant is the segment that names the parameter as other frameworks do, such as :id;
// empty if there is none.
func paramMeant(template, name string) string {
	for segment := range strings.SplitSeq(template, "/") {
		if parts := placeholder.FindStringSubmatch(segment); parts != nil && nameOf(parts) == name {
			return segment
		}
	}
	return ""
}

// namesParam reports whether a template has the parameter as a segment.
func namesParam(template, name string) bool {
	for segment := range strings.SplitSeq(template, "/") {
		if segment == "{"+name+"}" {
			return true
		}
	}
	return false
}
