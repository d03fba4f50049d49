// Copyright The Penstock Authors.
// SPDX-License-Identifier: Apache-2.0

package compile

import (
	"time"

	"github.com/penstock-dev/penstock/api/v1alpha1"
	"github.com/penstock-dev/penstock/internal/ruleset"
)

// coarseLimits are the limits that count time in steps of more than a microsecond,
// with the step rounded up to whole milliseconds.
func coarseLimits(form *ruleset.Policy) []v1alpha1.CoarseLimit {
	var coarse []v1alpha1.CoarseLimit
	for i := range form.Rules {
		rule := &form.Rules[i]
		for _, limit := range everyLimit(rule) {
			if limit.Algorithm != ruleset.SlidingWindowCounter {
				continue
			}
			counted := limit.Requests
			if rule.Cost.IsCorrected() {
				// Late charges count up to twice the requests, and a refused cost as many.
				counted *= 4
			}
			step := ruleset.StepMicros(counted, limit.WindowMicros)
			if step == 1 {
				continue
			}
			coarse = append(coarse, v1alpha1.CoarseLimit{
				Limit:      rule.Name + "/" + limit.Name,
				Resolution: durationText(time.Duration((step+999)/1000) * time.Millisecond),
			})
		}
	}
	return coarse
}
