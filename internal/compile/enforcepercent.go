// Copyright The Penstock Authors.
// SPDX-License-Identifier: Apache-2.0

package compile

import (
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/penstock-dev/penstock/internal/ruleset"
)

// compileEnforcePercent tells a rule for which share of requests it is no shadow: none
// makes it a shadow, and all is what an absent share means.
func compileEnforcePercent(form *ruleset.Rule, percent *int32, at *field.Path, found *findings) {
	switch {
	case percent == nil || *percent == 100:
	case *percent < 0 || *percent > 100:
		found.invalid(at, "is %d: write the share of requests over the limit to refuse, from 0 to 100", *percent)
	case *percent == 0:
		form.Shadow = true
	default:
		form.EnforcePercent = new(int(*percent))
	}
}
