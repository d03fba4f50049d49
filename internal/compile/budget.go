// Copyright The Penstock Authors.
// SPDX-License-Identifier: Apache-2.0

package compile

import (
	"iter"
	"slices"
	"strings"

	"github.com/penstock-dev/penstock/internal/match"
	"github.com/penstock-dev/penstock/internal/ruleset"
)

const maxLimitsPerRequest = ruleset.MaxLimitsPerRequest

const (
	// maxMethodsApart bounds the work of telling methods apart. HTTP and WebDAV
	// together have some forty; a group with more counts them all as overlapping.
	maxMethodsApart = 64
	// maxHostsWork bounds that of telling hosts apart: hosts times rules' entries. A
	// group with more counts all hosts as overlapping.
	maxHostsWork = 1 << 18
)

// limitsPerRequest is how many limits one request to one pod may meet at most. It
// may be too high, never too low: pods are told apart by labels that cannot hold
// together, requests by host, by method and by path.
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
	alternatives := alternativesOf(shares)
	hosts := hostsOf(alternatives)
	if len(hosts)*len(alternatives) > maxHostsWork {
		return limitsPerHost(alternatives)
	}
	most := 0
	for _, host := range hosts {
		most = max(most, limitsPerHost(forHost(alternatives, host)))
	}
	return most
}

// hostsOf are hosts of which one meets as much as any host can: each that is named, one
// below each domain that is named, and none, which stands for all others.
func hostsOf(alternatives []alternative) []string {
	hosts := []string{""}
	for _, a := range alternatives {
		for _, host := range a.hosts {
			// No host that is named has the label "-".
			hosts = append(hosts, strings.Replace(host, "*", "-", 1))
		}
	}
	slices.Sort(hosts)
	return slices.Compact(hosts)
}

func forHost(alternatives []alternative, host string) []alternative {
	var met []alternative
	for _, a := range alternatives {
		fits := func(pattern string) bool { return match.FitsHost(pattern, host) }
		if len(a.hosts) == 0 || slices.ContainsFunc(a.hosts, fits) {
			met = append(met, a)
		}
	}
	return met
}

// limitsPerHost is the most that a request meets which is for the host of all these.
func limitsPerHost(alternatives []alternative) int {
	methods := methodsOf(alternatives)
	if len(methods) > maxMethodsApart {
		return limitsPerMethod(alternatives)
	}
	// No method stands for any that no rule names.
	most := 0
	for _, method := range append(methods, "") {
		most = max(most, limitsPerMethod(forMethod(alternatives, method)))
	}
	return most
}

func methodsOf(alternatives []alternative) []string {
	var methods []string
	for _, a := range alternatives {
		methods = append(methods, a.methods...)
	}
	slices.Sort(methods)
	return slices.Compact(methods)
}

func forMethod(alternatives []alternative, method string) []alternative {
	var met []alternative
	for _, a := range alternatives {
		if len(a.methods) == 0 || slices.Contains(a.methods, method) {
			met = append(met, a)
		}
	}
	return met
}

// alternative is one entry of a rule's matches.
type alternative struct {
	rule   *ruleset.Rule
	limits int
	// methods are those it is for; none means all.
	methods []string
	// hosts are those it is for; none means all.
	hosts []string
	path  pattern
}

func alternativesOf(shares []share) []alternative {
	var alternatives []alternative
	for _, s := range shares {
		for i := range s.form.Rules {
			rule := &s.form.Rules[i]
			limits := largestTier(rule)
			if len(rule.Matches) == 0 {
				alternatives = append(alternatives, alternative{rule: rule, limits: limits, path: patternOf(nil)})
			}
			for j := range rule.Matches {
				m := &rule.Matches[j]
				alternatives = append(alternatives, alternative{
					rule: rule, limits: limits, methods: m.Methods, hosts: m.Hosts, path: patternOf(m.Path),
				})
			}
		}
	}
	return alternatives
}

// largestTier is how many limits of a rule a request may meet: its own, or a tier's.
func largestTier(rule *ruleset.Rule) int {
	largest := len(rule.Limits)
	for i := range rule.Tiers {
		largest = max(largest, len(rule.Tiers[i].Limits))
	}
	return largest
}

// limitsPerMethod is the most that a request meets which is for the host and the method
// of all these.
func limitsPerMethod(alternatives []alternative) int {
	tree, all := &pathTree{}, 0
	seen := make(map[*ruleset.Rule]bool)
	for i := range alternatives {
		a := &alternatives[i]
		tree.add(&a.path, a.limits)
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
			for _, limit := range form.Rules[i].AllLimits() {
				if !yield(*limit) {
					return
				}
			}
		}
	}
}
