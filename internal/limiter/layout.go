// Copyright The Penstock Authors.
// SPDX-License-Identifier: Apache-2.0

package limiter

import (
	"cmp"
	"slices"
	"strconv"

	"github.com/penstock-dev/penstock/internal/keys"
	"github.com/penstock-dev/penstock/internal/redisconn"
)

// layout says which node has which slots. It never changes: another one takes its
// place.
type layout struct {
	// only is the node of a store that is no cluster; then nothing else is set.
	only *node
	// ranges are in order and do not overlap.
	ranges []nodeRange
	// nodes are those of a cluster by address, also those without slots.
	nodes map[string]*node
}

type nodeRange struct {
	redisconn.SlotRange
	node *node
}

// layoutOf has the slots of shards at the nodes of their addresses. Of two nodes
// that claim a slot the one that is asked will say so.
func layoutOf(shards []redisconn.Shard, nodes map[string]*node) *layout {
	made := &layout{nodes: nodes}
	for _, shard := range shards {
		for _, slots := range shard.Slots {
			made.ranges = append(made.ranges, nodeRange{SlotRange: slots, node: nodes[shard.Address]})
		}
	}
	slices.SortFunc(made.ranges, func(a, b nodeRange) int { return cmp.Compare(a.First, b.First) })
	return made
}

// nodeOf is the node that has a slot, nil if none is known.
func (l *layout) nodeOf(slot int) *node {
	if l.only != nil {
		return l.only
	}
	at, _ := slices.BinarySearchFunc(l.ranges, slot, func(r nodeRange, slot int) int { return cmp.Compare(r.Last, slot) })
	if at == len(l.ranges) || slot < l.ranges[at].First {
		return nil
	}
	return l.ranges[at].node
}

// isCluster says whether slots matter.
func (l *layout) isCluster() bool { return l.only == nil }

// all are the nodes, in no order.
func (l *layout) all() []*node {
	if l.only != nil {
		return []*node{l.only}
	}
	found := make([]*node, 0, len(l.nodes))
	for _, n := range l.nodes {
		found = append(found, n)
	}
	return found
}

// mostProbeNames bounds the search for a name in a node's slots. Of a node with one
// slot alone, it finds one but for one time in a thousand.
const mostProbeNames = 8 * keys.Slots

// probeIdentityIn is an identity whose counters are in one of the slots; probeName
// if there are none.
func probeIdentityIn(slots []redisconn.SlotRange) string {
	if len(slots) == 0 {
		return probeName
	}
	for i := range mostProbeNames {
		name := probeName + strconv.Itoa(i)
		slot := keys.Slot(name)
		if slices.ContainsFunc(slots, func(r redisconn.SlotRange) bool { return r.First <= slot && slot <= r.Last }) {
			return name
		}
	}
	return probeName
}
