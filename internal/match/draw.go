// Copyright The Penstock Authors.
// SPDX-License-Identifier: Apache-2.0

package match

import (
	"math/rand/v2"

	"github.com/penstock-dev/penstock/internal/ruleset"
)

// isShadow reports whether a rule refuses nothing this time. It is drawn before the
// decision: the rule is a shadow for the request as a whole, whatever would refuse it.
func isShadow(rule *ruleset.Rule) bool {
	return rule.Shadow || rule.EnforcePercent != nil && rand.IntN(100) >= *rule.EnforcePercent
}
