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
	open, byValue := divide(shares, label)
	most := d.most(open, fixed)
	for _, value := range values {
		part := byValue[value]
		d.work -= len(open) + len(part)
		if d.work < 0 {
			return sum
		}
		most = max(most, d.most(slices.Concat(open, part), fixed))
	}
	return most
}

// divide parts shares by the values of a label. Those that leave the label open in
// some selector are for pods with any value of it, and with none.
func divide(shares []share, label string) (open []share, byValue map[string][]share) {
	byValue = make(map[string][]share)
	for _, s := range shares {
		bound, isOpen := make(map[string][]ruleset.Selector), false
		for _, selector := range s.selectors {
			allowed := allowedValues(selector, label)
			isOpen = isOpen || allowed == nil
			for _, value := range allowed {
				bound[value] = append(bound[value], selector)
			}
		}
		if isOpen {
			// Its other selectors stay too: for some value they may be what selects.
			open = append(open, s)
			continue
		}
		for value, selectors := range bound {
			byValue[value] = append(byValue[value], share{form: s.form, selectors: selectors})
		}
	}
	return open, byValue
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
	for label, value := range a.MatchLabels {
		if allowed := allowedValues(b, label); allowed != nil && !slices.Contains(allowed, value) {
			return false
		}
	}
	for _, requirement := range a.MatchExpressions {
		allowed := allowedValues(b, requirement.Key)
		if requirement.Operator == "In" && allowed != nil && !intersect(requirement.Values, allowed) {
			return false
		}
	}
	return true
}

func intersect(a, b []string) bool {
	return slices.ContainsFunc(a, func(value string) bool { return slices.Contains(b, value) })
}
