// Copyright The Penstock Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"regexp"
	"strings"
)

// ofTokens are the fields of rules that providers of tokens have a bearing on.
var ofTokens = regexp.MustCompile(`\.(jwtClaim|when|expression)\b`)

// hides reports whether a problem may follow from a fault alone: it is of the same
// value, of one around it or in it, or of one beside it. What a rule says has a bearing on
// all of it, but limits have one on nothing else, and requests have none on limits.
func hides(faulty, problem string) bool {
	if isPart(problem, faulty) || isPart(faulty, problem) || parentOf(faulty) == parentOf(problem) {
		return true
	}
	rest, isRule := strings.CutPrefix(faulty, "spec.rules[")
	index, field, _ := strings.Cut(rest, "].")
	rule := "spec.rules[" + index + "]"
	switch {
	case isPart("spec.jwt", faulty):
		return isPart("spec.rules", problem) && ofTokens.MatchString(problem)
	case isPart("spec.targetRefs", faulty):
		return isPart("spec.rules", problem) && strings.HasSuffix(problem, "].scope")
	case !isRule, isPart("limits", field):
		return false
	case isPart("matches", field):
		return isPart(rule, problem) && !isPart(rule+".limits", problem)
	default:
		return isPart(rule, problem)
	}
}

// isPart reports whether a field is another, or is in it.
func isPart(outer, inner string) bool {
	rest, ok := strings.CutPrefix(inner, outer)
	return ok && (rest == "" || outer == "" || rest[0] == '.' || rest[0] == '[')
}

func parentOf(path string) string {
	if cut := strings.LastIndexAny(path, ".["); cut >= 0 {
		return path[:cut]
	}
	return ""
}
