// Copyright The Penstock Authors.
// SPDX-License-Identifier: Apache-2.0

package compile

import (
	"maps"
	"slices"

	"github.com/penstock-dev/penstock/internal/ruleset"
)

// maxDivisionWork bounds how many shares a division looks at. Beyond it, the sum
// that it has is taken.
const maxDivisionWork = 1 << 20

// share is a policy with those of its selectors that can select the pods at hand.
type share struct {
	form      *ruleset.Policy
	selectors []ruleset.Selector
}

// division divides pods by their labels where that lowers the sum.
type division struct {
	work int
}

// most is the largest number of limits that a request to a pod may meet. The
// labels named in fixed were divided by already.
func (d *division) most(shares []share, fixed []string) int {
	sum := limitsPerPod(shares)
	if sum <= maxLimitsPerRequest {
		return sum
	}
	label, values := divider(shares, fixed)
	if label == "" {
		return sum
	}
	fixed = append(slices.Clip(fixed), label)
	most := d.part(shares, fixed, func([]string) bool { return false })
	for _, value := range values {
		if d.work <= 0 {
			return sum
		}
		most = max(most, d.part(shares, fixed, func(allowed []string) bool { return slices.Contains(allowed, value) }))
	}
	return most
}

// part looks at the pods whose label, the last of fixed, has a value that fits.
func (d *division) part(shares []share, fixed []string, fits func(allowed []string) bool) int {
	d.work -= len(shares)
	label := fixed[len(fixed)-1]
	var part []share
	for _, s := range shares {
		var selectors []ruleset.Selector
		for _, selector := range s.selectors {
			if allowed := allowedValues(selector, label); allowed == nil || fits(allowed) {
				selectors = append(selectors, selector)
			}
		}
		if len(selectors) > 0 {
			part = append(part, share{form: s.form, selectors: selectors})
		}
	}
	return d.most(part, fixed)
}

// divider is the label with most values among the selectors, and the values; empty
// if none has two.
func divider(shares []share, fixed []string) (label string, values []string) {
	byLabel := make(map[string]map[string]bool)
	for _, s := range shares {
		for _, selector := range s.selectors {
			for key := range constrainedLabels(selector) {
				if byLabel[key] == nil {
					byLabel[key] = make(map[string]bool)
				}
				for _, value := range allowedValues(selector, key) {
					byLabel[key][value] = true
				}
			}
		}
	}
	for _, key := range slices.Sorted(maps.Keys(byLabel)) {
		if len(byLabel[key]) >= 2 && len(byLabel[key]) > len(values) && !slices.Contains(fixed, key) {
			label, values = key, slices.Sorted(maps.Keys(byLabel[key]))
		}
	}
	return label, values
}

func constrainedLabels(selector ruleset.Selector) map[string]bool {
	labels := make(map[string]bool)
	for key := range selector.MatchLabels {
		labels[key] = true
	}
	for _, requirement := range selector.MatchExpressions {
		if requirement.Operator == "In" {
			labels[requirement.Key] = true
		}
	}
	return labels
}

// allowedValues are the values of a label with which a selector selects; nil if it
// leaves the label open. Operators other than In count as open.
func allowedValues(selector ruleset.Selector, label string) []string {
	if value, ok := selector.MatchLabels[label]; ok {
		return []string{value}
	}
	for _, requirement := range selector.MatchExpressions {
		if requirement.Key == label && requirement.Operator == "In" {
			return requirement.Values
		}
	}
	return nil
}

// mayShareAPod reports whether a pod can have labels that selectors of both select.
func mayShareAPod(some, others []ruleset.Selector) bool {
	for _, a := range some {
		for _, b := range others {
			if compatible(a, b) {
				return true
			}
		}
	}
	return false
}

func compatible(a, b ruleset.Selector) bool {
	for label := range constrainedLabels(a) {
		allowed := allowedValues(b, label)
		if allowed == nil {
			continue
		}
		if !slices.ContainsFunc(allowedValues(a, label), func(value string) bool { return slices.Contains(allowed, value) }) {
			return false
		}
	}
	return true
}
