// Copyright The Penstock Authors.
// SPDX-License-Identifier: Apache-2.0

package faults

import (
	"net"
	"slices"
	"strings"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/penstock-dev/penstock/internal/keys"
	"github.com/penstock-dev/penstock/internal/redisconn"
	"github.com/penstock-dev/penstock/internal/ruleset"
	"github.com/penstock-dev/penstock/test/redistest"
)

// clustered is a store that is a cluster, whose nodes announce their taps.
type clustered struct {
	nodes  *redistest.Cluster
	admins []*redis.Client
}

// cluster starts a cluster of three nodes.
func (s *scene) cluster() *clustered {
	s.t.Helper()
	c := &clustered{nodes: redistest.StartCluster(s.t)}
	for _, server := range c.nodes.Nodes {
		w, admin := s.lead(server), server.Client(s.t)
		_, port, err := net.SplitHostPort(w.tap.addr)
		if err != nil {
			s.t.Fatal(err)
		}
		s.send(admin, "CONFIG", "SET", "cluster-announce-ip", "127.0.0.1", "cluster-announce-port", port)
		c.admins = append(c.admins, admin)
		s.base.Addresses = append(s.base.Addresses, w.tap.addr)
	}
	s.base.Mode, s.admins = redisconn.Cluster, c.admins
	s.eventually("every node knows all others by their taps", func() bool {
		for _, admin := range c.admins {
			known, err := admin.ClusterNodes(s.t.Context()).Result()
			for _, w := range s.ways {
				if err != nil || !strings.Contains(known, w.tap.addr+"@") {
					return false
				}
			}
		}
		return true
	})
	return c
}

// place is the slot of a counter and the index of the node that has it at first.
func (c *clustered) place(of counter) (slot, node int) {
	check := of.check(ruleset.FailAllow)
	slot = keys.Slot(keys.Prefix(keys.DefaultPrefix).Counter("any", check.Identity, check.Limit.Key))
	return slot, slices.Index(c.nodes.Nodes, c.nodes.NodeOf(slot))
}

// lostNode is the index of the node that is lost, and whose slots move.
const lostNode = 0

// onLostNode says whether a counter is on that node.
func onLostNode(s *scene, of counter) bool {
	_, node := s.clustered.place(of)
	return node == lostNode
}

// moveSlots moves the counters of a node to another, under load.
func moveSlots(s *scene) {
	s.t.Helper()
	moved := 0
	for _, of := range counters() {
		slot, node := s.clustered.place(of)
		if node != lostNode {
			continue
		}
		moved++
		migration := s.clustered.nodes.Begin(s.t, slot, s.clustered.nodes.Nodes[node], s.clustered.nodes.Nodes[node+1])
		for migration.MoveKeys(s.t) {
			// The load goes on between the steps.
			s.awaitMore(of)
		}
		s.awaitMore(of)
		migration.End(s.t)
	}
	if moved == 0 || moved == len(counters()) {
		s.t.Errorf("%d counters were moved, want some and not all", moved)
	}
}

// awaitMore returns once the store has decided on a counter in every sidecar again.
func (s *scene) awaitMore(of counter) {
	s.t.Helper()
	before := make(map[*lane]int64)
	for _, l := range s.lanes {
		before[l] = l.node.read().Counters[of.name].store()
	}
	s.eventually("the store decides while a slot moves", func() bool {
		for _, l := range s.lanes {
			if l.node.read().Counters[of.name].store() < before[l]+2 {
				return false
			}
		}
		return true
	})
}

func clusterFaults() map[string]fault {
	start := func(s *scene) { s.clustered = s.cluster() }
	return map[string]fault{
		"Cluster slot migration": {store: start, begin: moveSlots, end: nothing, outcome: unharmed, deadline: patient},
		// The deadline is such that no other node misses it on a busy machine.
		"loss of one Cluster node": {
			store: start, suffers: onLostNode, deadline: time.Second,
			begin: func(s *scene) { s.ways[lostNode].server.Pause() },
			end:   func(s *scene) { s.ways[lostNode].server.Resume() },
		},
	}
}
