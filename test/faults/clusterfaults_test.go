// Copyright The Penstock Authors.
// SPDX-License-Identifier: Apache-2.0

package faults

import (
	"net"
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
	ids    []string
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
		id, err := admin.Do(s.t.Context(), "CLUSTER", "MYID").Text()
		if err != nil {
			s.t.Fatal(err)
		}
		c.admins, c.ids = append(c.admins, admin), append(c.ids, id)
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
func (c *clustered) place(s *scene, of counter) (slot int64, node int) {
	s.t.Helper()
	check := of.check(ruleset.FailAllow)
	key := keys.Prefix(keys.DefaultPrefix).Counter("any", check.Identity, check.Limit.Key)
	slot, err := c.admins[0].ClusterKeySlot(s.t.Context(), key).Result()
	if err != nil {
		s.t.Fatal(err)
	}
	for i, server := range c.nodes.Nodes {
		if server == c.nodes.NodeOf(int(slot)) {
			return slot, i
		}
	}
	s.t.Fatalf("no node has slot %d", slot)
	return 0, 0
}

// move gives a slot with its keys to another node.
func (c *clustered) move(s *scene, slot int64, from, to int) {
	s.t.Helper()
	s.send(c.admins[to], "CLUSTER", "SETSLOT", slot, "IMPORTING", c.ids[from])
	s.send(c.admins[from], "CLUSTER", "SETSLOT", slot, "MIGRATING", c.ids[to])
	host, port, err := net.SplitHostPort(c.nodes.Nodes[to].Addr())
	if err != nil {
		s.t.Fatal(err)
	}
	for {
		names, err := c.admins[from].ClusterGetKeysInSlot(s.t.Context(), int(slot), 100).Result()
		if err != nil {
			s.t.Fatal(err)
		}
		if len(names) == 0 {
			break
		}
		for _, name := range names {
			s.send(c.admins[from], "MIGRATE", host, port, name, 0, patience.Milliseconds())
		}
	}
	for _, node := range []int{to, from, 3 - to - from} {
		s.send(c.admins[node], "CLUSTER", "SETSLOT", slot, "NODE", c.ids[to])
	}
}

// moveSlots moves every counter from its node to the next, under load.
func moveSlots(s *scene) {
	s.t.Helper()
	for _, of := range counters() {
		slot, node := s.clustered.place(s, of)
		s.clustered.move(s, slot, node, (node+1)%len(s.ways))
	}
}

// lostNode is the index of the node that is lost.
const lostNode = 0

// onLostNode says whether a counter suffers from the loss of a node.
func onLostNode(s *scene, of counter) bool {
	_, node := s.clustered.place(s, of)
	return node == lostNode
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
