// Copyright The Penstock Authors.
// SPDX-License-Identifier: Apache-2.0

package match

import "github.com/penstock-dev/penstock/internal/ruleset"

// limitsFor are the limits that count for a request, and the name of their tier;
// none is unlimited.
func (r *ruleMatcher) limitsFor(_ *request, _ *pathsRead, _ *met) (tier string, limits []ruleset.Limit) {
	return "", r.rule.Limits
}
