// Copyright The Penstock Authors.
// SPDX-License-Identifier: Apache-2.0

package match

import (
	"slices"
	"strings"

	"github.com/penstock-dev/penstock/internal/ruleset"
)

// fewRules is how many rules are quicker asked one by one than looked up.
const fewRules = 8

// fewCandidates is how many rules that may meet a request cost one allocation.
const fewCandidates = 32

// entry is a rule in the order of the rule set.
type entry struct {
	policy *policyMatcher
	rule   *ruleMatcher
}

// index finds the rules that may meet a request by its path, its host, and a value of a
// header or of the query, so that the rules of others cost nothing. What it finds is
// asked whether it does.
type index struct {
	entries []entry
	// every are the numbers of all entries, in order.
	every []int32
	// loose and strict hold the rules of policies with this pathMatching.
	loose, strict node
	// looksAtLoose is true if such a rule, or its policy, looks at paths.
	looksAtLoose, looksAtStrict bool
}

// node is a place in a tree of paths, by segment.
type node struct {
	literal map[string]*node
	// parameter is for any segment that is not empty.
	parameter *node
	// here are the rules for this path alone, below those for all that begins with it.
	here, below bucket
}

// bucket holds the numbers of rules by the hosts that they are for.
type bucket struct {
	every values
	// hosts are by name, domains by what follows "*.".
	hosts, domains map[string]*values
}

func newIndex(policies []policyMatcher) *index {
	x := &index{}
	for i := range policies {
		policy := &policies[i]
		tree, looks := &x.loose, &x.looksAtLoose
		if policy.policy.PathMatching == ruleset.PathStrict {
			tree, looks = &x.strict, &x.looksAtStrict
		}
		*looks = *looks || policy.looksAtPaths
		for j := range policy.rules {
			rule, number := &policy.rules[j], int32(len(x.entries))
			x.entries = append(x.entries, entry{policy: policy, rule: rule})
			x.every = append(x.every, number)
			if len(rule.alternatives) == 0 {
				tree.below.add(&alternative{}, number)
			}
			for k := range rule.alternatives {
				tree.add(&rule.alternatives[k], policy.policy.PathMatching, number)
			}
		}
	}
	return x
}

func (n *node) add(a *alternative, matching ruleset.PathMatching, number int32) {
	path, here := a.path, a.kind == ruleset.PathExact || a.kind == ruleset.PathTemplate
	if a.kind == ruleset.PathRegularExpression {
		// Whole segments of what every path begins with that it matches.
		path = leadingLiteral(path, matching)
		path = path[:max(strings.LastIndexByte(path, '/'), 0)]
	}
	if !strings.HasPrefix(path, "/") || path == "/" && !here {
		n.below.add(a, number)
		return
	}
	for segment := range strings.SplitSeq(path[1:], "/") {
		_, isParameter := parameterOf(segment)
		n = n.child(segment, isParameter && a.kind == ruleset.PathTemplate)
	}
	if here {
		n.here.add(a, number)
	} else {
		n.below.add(a, number)
	}
}

func (n *node) child(segment string, isParameter bool) *node {
	if isParameter {
		if n.parameter == nil {
			n.parameter = &node{}
		}
		return n.parameter
	}
	if n.literal == nil {
		n.literal = make(map[string]*node)
	}
	if n.literal[segment] == nil {
		n.literal[segment] = &node{}
	}
	return n.literal[segment]
}

func (b *bucket) add(a *alternative, number int32) {
	if len(a.hosts) == 0 {
		b.every.add(a, number)
		return
	}
	for _, host := range a.hosts {
		names := &b.hosts
		if domain, isDomain := strings.CutPrefix(host, anyLabels); isDomain {
			names, host = &b.domains, domain
		}
		if *names == nil {
			*names = make(map[string]*values)
		}
		if (*names)[host] == nil {
			(*names)[host] = &values{}
		}
		(*names)[host].add(a, number)
	}
}

func (b *bucket) appendTo(found []int32, request *request) []int32 {
	found = b.every.appendTo(found, request)
	if b.hosts == nil && b.domains == nil {
		return found
	}
	host := request.hostName()
	found = b.hosts[host].appendTo(found, request)
	for dot := strings.IndexByte(host, '.'); dot >= 0 && b.domains != nil; {
		host = host[dot+1:]
		found = b.domains[host].appendTo(found, request)
		dot = strings.IndexByte(host, '.')
	}
	return found
}

// appendTo appends the rules of a path below the node: what follows a slash, if more
// is true.
func (n *node) appendTo(found []int32, rest string, more bool, request *request) []int32 {
	found = n.below.appendTo(found, request)
	if !more {
		return n.here.appendTo(found, request)
	}
	return n.appendBelow(found, rest, request)
}

func (n *node) appendBelow(found []int32, rest string, request *request) []int32 {
	if n.literal == nil && n.parameter == nil {
		return found
	}
	segment, rest, more := strings.Cut(rest, "/")
	if child := n.literal[segment]; child != nil {
		found = child.appendTo(found, rest, more, request)
	}
	if n.parameter != nil && segment != "" {
		found = n.parameter.appendTo(found, rest, more, request)
	}
	return found
}

// appendReadings appends the rules of all readings of a path.
func (n *node) appendReadings(found []int32, paths []string, request *request) []int32 {
	found = n.below.appendTo(found, request)
	for _, path := range paths {
		if rest, ok := strings.CutPrefix(path, "/"); ok {
			found = n.appendBelow(found, rest, request)
		}
	}
	return found
}

// candidates are the numbers of the rules that may meet a request, in order.
func (x *index) candidates(request *request) []int32 {
	if len(x.entries) <= fewRules {
		return x.every
	}
	found := make([]int32, 0, fewCandidates)
	found = x.loose.appendReadings(found, request.loose.all(), request)
	found = x.strict.appendReadings(found, request.strict.all(), request)
	if !slices.IsSorted(found) {
		slices.Sort(found)
	}
	return slices.Compact(found)
}
