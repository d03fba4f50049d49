// Copyright The Penstock Authors.
// SPDX-License-Identifier: Apache-2.0

package match

import (
	"fmt"
	"strings"

	"github.com/penstock-dev/penstock/internal/ruleset"
)

// CanonicalPattern returns a literal path pattern as requests are compared with
// it. With Loose, upper case and a trailing slash are folded away silently. A
// pattern that is spelled in any other way than the canonical one is an error
// that tells the canonical spelling, since two patterns that look different
// could be the same rule.
func CanonicalPattern(value string, matching ruleset.PathMatching) (string, error) {
	if value == "" || value[0] != '/' {
		return "", fmt.Errorf("path %q does not begin with a slash; write %q", value, "/"+value)
	}
	if at := strings.IndexAny(value, "?#"); at >= 0 {
		return "", fmt.Errorf("path %q has a query or fragment; write %q", value, value[:at])
	}
	if err := checkEscapes(value); err != nil {
		return "", fmt.Errorf("path %q: %w; write each escape as %% and two hex digits", value, err)
	}
	// Escaped separators stay: in a pattern they are meant as written.
	canonical := finish(resolveDots(normalise(value, false, false)), false)
	if canonical != value {
		return "", fmt.Errorf("path %q is not in canonical form; write %q", value, canonical)
	}
	if matching == ruleset.PathStrict {
		return canonical, nil
	}
	if plain := finish(cutParameters(canonical), false); plain != canonical {
		return "", fmt.Errorf("path %q has path parameters, which pathMatching Loose ignores; write %q, or set pathMatching: Strict",
			value, plain)
	}
	return finish(foldCase(canonical), true), nil
}
