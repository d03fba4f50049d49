// Copyright The Penstock Authors.
// SPDX-License-Identifier: Apache-2.0

package match

import (
	"fmt"
	"strings"

	"github.com/penstock-dev/penstock/internal/ruleset"
)

// limitsFor are the limits that count for a request, and the name of their tier: the
// first whose expression holds, or else the rule's own. None is unlimited, which a path
// in another spelling than the canonical one never makes a request.
func (r *ruleMatcher) limitsFor(request *request, paths *pathsRead, how *met) (tier string, limits []ruleset.Limit) {
	for i := range r.rule.Tiers {
		tier := &r.rule.Tiers[i]
		if len(tier.Limits) == 0 && !paths.canonical {
			continue
		}
		if r.isOfTier(request, i, paths, how) {
			return tier.Name, tier.Limits
		}
	}
	return "", r.rule.Limits
}

// otherLimitsFor are the limits that count as well, since some apps part the query at
// ";" too and the tier is another one for them. Only where it is unlimited for some, and
// not for others, there are none besides.
func (r *ruleMatcher) otherLimitsFor(request *request, paths *pathsRead, how *met, tier string) (other string, limits []ruleset.Limit) {
	if !r.expressions.tiersLookAtQuery || !strings.Contains(request.query(), ";") {
		return "", nil
	}
	request.parted = atSemicolons
	other, limits = r.limitsFor(request, paths, how)
	request.parted = atAmpersands
	if other == tier {
		return "", nil
	}
	return other, limits
}

// isOfTier reports whether a tier's expression holds. If it holds for some readings of
// the path only, nobody knows by which limits to count: the request is refused, unless
// the rule is a shadow, which takes the first reading.
func (r *ruleMatcher) isOfTier(request *request, tier int, paths *pathsRead, how *met) bool {
	program := &r.expressions.tiers[tier]
	holds, _ := r.expressions.holdsAsParted(request, program, how)
	all := paths.all()
	if !program.LooksAtPaths() || len(all) < 2 || r.rule.Shadow {
		return holds
	}
	for i := range all {
		other, meets := r.meets(request, all[i:i+1])
		if !meets {
			continue
		}
		if also, _ := r.expressions.holdsAsParted(request, program, &other); also != holds && request.badPath == nil {
			request.badPath = fmt.Errorf("%w: it can be read in ways of which the tier %q of rule %q is for some only", ErrBadPath, r.rule.Tiers[tier].Name, r.rule.Name)
		}
	}
	// The parameters of how held until the rule was asked again.
	*how, _ = r.meets(request, []string{how.path})
	return holds
}
