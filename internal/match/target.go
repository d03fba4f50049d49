// Copyright The Penstock Authors.
// SPDX-License-Identifier: Apache-2.0

package match

import "strings"

// OriginForm returns path and query of a request target in origin form or in
// absolute form, and "*" as it is (RFC 9112, section 3.2). It reports false for
// any other target. Whoever forwards a request forwards this, so that what was
// matched is what arrives.
func OriginForm(target string) (origin string, ok bool) {
	if target == "*" || strings.HasPrefix(target, "/") {
		return target, true
	}
	scheme, rest, absolute := strings.Cut(target, "://")
	if !absolute || !strings.EqualFold(scheme, "http") && !strings.EqualFold(scheme, "https") {
		return "", false
	}
	switch start := strings.IndexAny(rest, "/?"); {
	case start == 0 || rest == "":
		return "", false
	case start < 0:
		return "/", true
	case rest[start] == '?':
		return "/" + rest[start:], true
	default:
		return rest[start:], true
	}
}
