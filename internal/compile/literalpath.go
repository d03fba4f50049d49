// Copyright The Penstock Authors.
// SPDX-License-Identifier: Apache-2.0

package compile

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/penstock-dev/penstock/api/v1alpha1"
	"github.com/penstock-dev/penstock/internal/ruleset"
)

// placeholder is a segment that stands for any other in routes of some framework: :id,
// {id}, {id:int}, {*rest}, ${id}, <id>, <int:id>, [id], [...rest].
var placeholder = regexp.MustCompile(`^(?::([A-Za-z_]\w*)|\$?\{\*{0,2}([A-Za-z_]\w*)(?::.*)?\}|<(?:\w+:)?([A-Za-z_]\w*)>|\[(?:\.\.\.)?([A-Za-z_]\w*)\])$`)

// segmentExpression is what a placeholder is as a regular expression.
const segmentExpression = "[^/]+"

// warnOfLiterals warns of a valid path whose characters are compared as written, though
// elsewhere they stand for others. They are legal in a path, so this is no error.
func warnOfLiterals(path *ruleset.PathMatch, at *field.Path, found *findings) {
	if mend := literalsMend(path); mend != "" {
		found.warn(v1alpha1.ReasonLiteralPath, at, fmt.Sprintf("%q is compared as written, and nothing in it stands for other characters: %s", path.Value, mend))
	}
}

// literalsMend says what to write if characters of a path are meant to stand for others;
// empty if none looks like it.
func literalsMend(path *ruleset.PathMatch) string {
	if path.Type == ruleset.PathRegularExpression {
		return ""
	}
	segments := strings.Split(path.Value, "/")
	names := placeholdersOf(segments, path.Type)
	last := len(segments) - 1
	head, isOpen := cutStar(segments[last])
	var mend string
	switch isNamed := slices.ContainsFunc(names, func(name string) bool { return name != "" }); {
	case isNamed && isOpen:
		mend = "write type: RegularExpression and value: " + expressionOf(segments[:last], names) + "/" + regexp.QuoteMeta(head) + ".*"
	case isNamed:
		mend = templateMend(segments, names, path.Type)
	case isOpen:
		mend = prefixMend(segments[:last], head)
	default:
		return ""
	}
	return "if " + suspectsOf(segments, names, isOpen) + " is meant to, " + mend
}

// placeholdersOf are the names of the segments that stand for any other elsewhere; the
// name of one that does not is empty. Those of a template in braces do here, too.
func placeholdersOf(segments []string, kind ruleset.PathMatchType) []string {
	names := make([]string, len(segments))
	for i, segment := range segments {
		parts := placeholder.FindStringSubmatch(segment)
		isParameter := kind == ruleset.PathTemplate && strings.HasPrefix(segment, "{")
		switch {
		case parts != nil && !isParameter:
			names[i] = nameOf(parts)
		case i < len(segments)-1 && (segment == "*" || segment == "**"):
			names[i] = fmt.Sprint("segment", i)
		}
	}
	return names
}

// nameOf is the name in what placeholder found.
func nameOf(parts []string) string { return strings.Join(parts[1:], "") }

// cutStar takes the wildcard off the end of a segment.
func cutStar(segment string) (head string, isOpen bool) {
	head = strings.TrimRight(segment, "*")
	return head, head != segment
}

func suspectsOf(segments, names []string, isOpen bool) string {
	var suspects []string
	for i, name := range names {
		if name != "" {
			suspects = append(suspects, segments[i])
		}
	}
	if isOpen {
		suspects = append(suspects, "the * at its end")
	}
	return strings.Join(suspects, " or ")
}

// templateMend says how to have any segment where names are.
func templateMend(segments, names []string, kind ruleset.PathMatchType) string {
	named := slices.Clone(segments)
	for i, name := range names {
		if name != "" {
			named[i] = "{" + name + "}"
		}
	}
	if kind == ruleset.PathTemplate {
		return "write value: " + strings.Join(named, "/")
	}
	mend := "write type: Template and value: " + strings.Join(named, "/")
	if kind == ruleset.PathPrefix {
		mend += ", or for what is below as well type: RegularExpression and value: " + expressionOf(segments, names) + "(/.*)?"
	}
	return mend
}

// prefixMend says how to have all that is below some segments, or that begins so.
func prefixMend(segments []string, head string) string {
	above := strings.Join(segments, "/")
	if head == "" {
		if above == "" {
			above = "/"
		}
		return "write type: PathPrefix and value: " + above + ", which is for it and all below"
	}
	whole := above + "/" + head
	return "write type: PathPrefix and value: " + whole + " for it and all below, or type: RegularExpression and value: " +
		regexp.QuoteMeta(whole) + ".* for all that begins so"
}

func expressionOf(segments, names []string) string {
	parts := make([]string, len(segments))
	for i, segment := range segments {
		if parts[i] = regexp.QuoteMeta(segment); names[i] != "" {
			parts[i] = segmentExpression
		}
	}
	return strings.Join(parts, "/")
}
