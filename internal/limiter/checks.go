// Copyright The Penstock Authors.
// SPDX-License-Identifier: Apache-2.0

package limiter

import (
	"slices"
	"time"

	"github.com/penstock-dev/penstock/internal/ruleset"
)

// distinct returns the checks with each limit once per identity, at its largest
// cost: two readings of one request may meet a rule for the same client.
func distinct(checks []Check) []Check {
	for i := 1; i < len(checks); i++ {
		if indexOf(checks[:i], &checks[i]) >= 0 {
			return merge(checks)
		}
	}
	return checks
}

func indexOf(checks []Check, wanted *Check) int {
	return slices.IndexFunc(checks, func(c Check) bool {
		return c.Identity == wanted.Identity && limitKey(c.Limit) == limitKey(wanted.Limit)
	})
}

func limitKey(limit *ruleset.Limit) string {
	if limit == nil {
		return ""
	}
	return limit.Key
}

func merge(checks []Check) []Check {
	merged := make([]Check, 0, len(checks))
	for i := range checks {
		if at := indexOf(merged, &checks[i]); at >= 0 {
			merged[at].Cost = max(merged[at].Cost, checks[i].Cost)
			continue
		}
		merged = append(merged, checks[i])
	}
	return merged
}

// plansFor makes the plans of distinct checks. The clock is this machine's.
func plansFor(checks []Check, clock func() time.Time) ([]plan, error) {
	plans := make([]plan, len(checks))
	for i := range checks {
		made, err := planFor(&checks[i], clock)
		if err != nil {
			return nil, err
		}
		plans[i] = made
	}
	return plans, nil
}
