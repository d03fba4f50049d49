// Copyright The Penstock Authors.
// SPDX-License-Identifier: Apache-2.0

package match

import (
	"math/rand/v2"

	"github.com/penstock-dev/penstock/internal/ruleset"
)

// isShadow reports whether a rule refuses nothing this time, and whether that was drawn,
// so that it may refuse the next request. It is drawn before the decision: the rule is a
// shadow for the request as a whole, whatever would refuse it.
func isShadow(rule *ruleset.Rule) (shadow, drawn bool) {
	switch {
	case rule.Shadow:
		return true, false
	case rule.EnforcePercent == nil:
		return false, false
	}
	shadow = rand.IntN(100) >= *rule.EnforcePercent
	return shadow, shadow && *rule.EnforcePercent > 0
}
