// Copyright The Penstock Authors.
// SPDX-License-Identifier: Apache-2.0

package compile

import (
	"slices"
	"strings"

	"github.com/penstock-dev/penstock/internal/match"
	"github.com/penstock-dev/penstock/internal/ruleset"
)

// maxReadings is in how many ways a path is understood that is not made to be
// misread: a request meets the rules of each. More readings need dot segments
// besides other oddities; the sidecar refuses those that meet too many limits.
const maxReadings = 4

// pathTree adds up the limits of literal paths, by segment.
type pathTree struct {
	segments map[string]*pathTree
	// prefix are the limits of rules for everything below this path, itself included.
	prefix int
	// exact are the limits of rules for this path alone.
	exact int
}

// add counts limits at a path; nil is every path.
func (t *pathTree) add(path *ruleset.PathMatch, limits int) {
	if path == nil {
		t.prefix += limits
		return
	}
	folded, ok := foldPath(path.Value)
	if !ok {
		t.prefix += limits
		return
	}
	node := t
	for segment := range strings.SplitSeq(strings.Trim(folded, "/"), "/") {
		if segment != "" {
			node = node.child(segment)
		}
	}
	if path.Type == ruleset.PathExact {
		node.exact += limits
	} else {
		node.prefix += limits
	}
}

func (t *pathTree) child(segment string) *pathTree {
	if t.segments == nil {
		t.segments = make(map[string]*pathTree)
	}
	child := t.segments[segment]
	if child == nil {
		child = &pathTree{}
		t.segments[segment] = child
	}
	return child
}

// most is the largest sum of limits that maxReadings paths meet together, where
// what they share counts once.
func (t *pathTree) most() int {
	var chains []int
	chains = append(chains, t.longest(&chains))
	slices.SortFunc(chains, func(a, b int) int { return b - a })
	sum := 0
	for _, limits := range chains[:min(len(chains), maxReadings)] {
		sum += limits
	}
	return sum
}

// longest is the chain with most limits from here down. The chains that branch off
// it are added to others: the longest of all these are the best choice of leaves.
func (t *pathTree) longest(others *[]int) int {
	best := t.exact
	for _, child := range t.segments {
		chain := child.longest(others)
		*others = append(*others, min(best, chain))
		best = max(best, chain)
	}
	return best + t.prefix
}

// foldPath is the path as the loosest policy sees it, so that patterns of policies
// with different pathMatching compare. It is false for a path that cannot be told
// apart.
func foldPath(path string) (string, bool) {
	segments := strings.Split(path, "/")
	for i, segment := range segments {
		segments[i], _, _ = strings.Cut(segment, ";")
	}
	folded, err := match.CanonicalPattern(strings.Join(segments, "/"), ruleset.PathLoose)
	return folded, err == nil
}
