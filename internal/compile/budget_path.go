// Copyright The Penstock Authors.
// SPDX-License-Identifier: Apache-2.0

package compile

import (
	"maps"
	"slices"
	"strings"

	"github.com/penstock-dev/penstock/internal/match"
	"github.com/penstock-dev/penstock/internal/ruleset"
)

const (
	// maxReadings is in how many ways a path is understood that is not made to be
	// misread: a request meets the rules of each. More readings need dot segments
	// besides other oddities; the sidecar refuses those that meet too many limits.
	maxReadings = 4
	// maxPathPlaces bounds the work of telling templates apart. Beyond it, all that could
	// be met is counted.
	maxPathPlaces = 1 << 14
)

// anySegment stands for a parameter of a template in a pattern's segments.
const anySegment = "{}"

// pattern is a path as budgets tell paths apart.
type pattern struct {
	// segments are those of the path in its loosest form; none is every path.
	segments []string
	// exact says that nothing below the path is meant.
	exact bool
}

// patternOf is every path for a regular expression, for nil, and for what cannot be
// told apart.
func patternOf(path *ruleset.PathMatch) pattern {
	if path == nil || path.Type == ruleset.PathRegularExpression {
		return pattern{}
	}
	folded, ok := foldPath(path)
	if !ok {
		return pattern{}
	}
	p := pattern{exact: path.Type != ruleset.PathPrefix}
	for segment := range strings.SplitSeq(folded, "/") {
		switch {
		case segment == "":
		case path.Type == ruleset.PathTemplate && segment[0] == '{':
			p.segments = append(p.segments, anySegment)
		default:
			p.segments = append(p.segments, segment)
		}
	}
	return p
}

// foldPath is the path as the loosest policy sees it, so that patterns of policies
// with different pathMatching compare. It is false for a path that cannot be told
// apart.
func foldPath(path *ruleset.PathMatch) (string, bool) {
	segments := strings.Split(path.Value, "/")
	for i, segment := range segments {
		segments[i], _, _ = strings.Cut(segment, ";")
	}
	fold := match.CanonicalPattern
	if path.Type == ruleset.PathTemplate {
		fold = match.CanonicalTemplate
	}
	folded, err := fold(strings.Join(segments, "/"), ruleset.PathLoose)
	return folded, err == nil
}

// pathTree adds up the limits of paths, by segment.
type pathTree struct {
	segments map[string]*pathTree
	// prefix are the limits of rules for everything below this path, itself included.
	prefix int
	// exact are the limits of rules for this path alone.
	exact int
	// all are the limits of rules for this path and everything below it.
	all int
}

// add counts limits at a path.
func (t *pathTree) add(path *pattern, limits int) {
	node := t
	node.all += limits
	for _, segment := range path.segments {
		node = node.child(segment)
		node.all += limits
	}
	if path.exact {
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
	s := &search{places: maxPathPlaces}
	s.chains = append(s.chains, s.longest([]*pathTree{t}))
	slices.SortFunc(s.chains, func(a, b int) int { return b - a })
	sum := 0
	for _, limits := range s.chains[:min(len(s.chains), maxReadings)] {
		sum += limits
	}
	return sum
}

// search walks the places at which a path can be: by templates, it can be at several
// nodes of a tree at once.
type search struct {
	chains []int
	places int
}

// longest is the chain with most limits from here down. The chains that branch off
// it are added to others: the longest of all these are the best choice of leaves.
func (s *search) longest(place []*pathTree) int {
	s.places--
	prefix, best, all := 0, 0, 0
	for _, node := range place {
		prefix, best, all = prefix+node.prefix, best+node.exact, all+node.all
	}
	if s.places < 0 {
		return all
	}
	for _, segment := range segmentsOf(place) {
		chain := s.longest(next(place, segment))
		s.chains = append(s.chains, min(best, chain))
		best = max(best, chain)
	}
	return best + prefix
}

// segmentsOf are the segments that lead on from a place, anySegment among them where
// any other does.
func segmentsOf(place []*pathTree) []string {
	var segments []string
	for _, node := range place {
		segments = slices.AppendSeq(segments, maps.Keys(node.segments))
	}
	slices.Sort(segments)
	return slices.Compact(segments)
}

// next is where a segment leads from a place: a parameter takes any.
func next(place []*pathTree, segment string) []*pathTree {
	var nodes []*pathTree
	for _, node := range place {
		if node.segments[segment] != nil {
			nodes = append(nodes, node.segments[segment])
		}
		if segment != anySegment && node.segments[anySegment] != nil {
			nodes = append(nodes, node.segments[anySegment])
		}
	}
	return nodes
}
