// Copyright The Penstock Authors.
// SPDX-License-Identifier: Apache-2.0

package compile

import (
	"iter"
	"slices"

	"github.com/penstock-dev/penstock/internal/ruleset"
)

const maxLimitsPerRequest = ruleset.MaxLimitsPerRequest

// maxMethodsApart bounds the work of telling methods apart. HTTP and WebDAV
// together have some forty; a group with more counts them all as overlapping.
const maxMethodsApart = 64

// limitsPerRequest is how many limits one request to one pod may meet at most. It
// may be too high, never too low: pods are told apart by labels that cannot hold
// together, requests by method and by path.
func limitsPerRequest(forms []*ruleset.Policy) int {
	shares := make([]share, len(forms))
	for i, form := range forms {
		shares[i] = share{form: form, selectors: form.Selectors}
	}
	division := &division{work: maxDivisionWork}
	return division.most(shares, nil)
}

// limitsPerPod is the most that a request meets of policies that all select its pod.
func limitsPerPod(shares []share) int {
	alternatives, methods := alternativesOf(shares)
	if len(methods) > maxMethodsApart {
		for i := range alternatives {
			alternatives[i].methods = nil
		}
		methods = nil
	}
	// No method stands for any that no rule names.
	most := 0
	for _, method := range append(methods, "") {
		most = max(most, limitsPerMethod(alternatives, method))
	}
	return most
}

// alternative is one entry of a rule's matches.
type alternative struct {
	rule   *ruleset.Rule
	limits int
	// methods are those it is for; none means all.
	methods []string
	path    *ruleset.PathMatch
}

func alternativesOf(shares []share) (alternatives []alternative, methods []string) {
	for _, s := range shares {
		for i := range s.form.Rules {
			rule := &s.form.Rules[i]
			if len(rule.Matches) == 0 {
				alternatives = append(alternatives, alternative{rule: rule, limits: len(rule.Limits)})
			}
			for j := range rule.Matches {
				m := &rule.Matches[j]
				alternatives = append(alternatives, alternative{rule: rule, limits: len(rule.Limits), methods: m.Methods, path: m.Path})
				methods = append(methods, m.Methods...)
			}
		}
	}
	slices.Sort(methods)
	return alternatives, slices.Compact(methods)
}

// limitsPerMethod is the most that a request of this method meets.
func limitsPerMethod(alternatives []alternative, method string) int {
	tree, all := &pathTree{}, 0
	seen := make(map[*ruleset.Rule]bool)
	for _, a := range alternatives {
		if len(a.methods) > 0 && !slices.Contains(a.methods, method) {
			continue
		}
		tree.add(a.path, a.limits)
		if !seen[a.rule] {
			seen[a.rule] = true
			all += a.limits
		}
	}
	// The tree counts a rule once for each of its alternatives.
	return min(all, tree.most())
}

func limitsOf(form *ruleset.Policy) iter.Seq[ruleset.Limit] {
	return func(yield func(ruleset.Limit) bool) {
		for i := range form.Rules {
			for _, limit := range form.Rules[i].Limits {
				if !yield(limit) {
					return
				}
			}
		}
	}
}
