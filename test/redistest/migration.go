// Copyright The Penstock Authors.
// SPDX-License-Identifier: Apache-2.0

package redistest

import (
	"context"
	"fmt"
	"strconv"
	"testing"

	"github.com/redis/go-redis/v9"
)

// keysPerMove is how many keys one step of a migration moves.
const keysPerMove = 16

// Migration moves a slot from one node of a cluster to another, as redis-cli
// --cluster reshard does: Begin, MoveKeys until it says that none is left, End.
type Migration struct {
	cluster  *Cluster
	slot     int
	from, to *Server
	// source and target are clients, and targetID is the target's name.
	source, target *redis.Client
	targetID       string
}

// Begin marks the slot as migrating: from now on the source asks clients to look for
// keys that it does not have at the target.
func (c *Cluster) Begin(tb testing.TB, slot int, from, to *Server) *Migration {
	tb.Helper()
	m := &Migration{cluster: c, slot: slot, from: from, to: to, source: from.Client(tb), target: to.Client(tb)}
	m.targetID = nodeID(tb, m.target)
	// The target has to know first.
	setSlot(tb, m.target, slot, "IMPORTING", nodeID(tb, m.source))
	setSlot(tb, m.source, slot, "MIGRATING", m.targetID)
	return m
}

// MoveKeys moves some of the slot's keys and says whether there were any.
func (m *Migration) MoveKeys(tb testing.TB) bool {
	tb.Helper()
	names, err := m.source.ClusterGetKeysInSlot(tb.Context(), m.slot, keysPerMove).Result()
	if err != nil {
		tb.Fatalf("list the keys of slot %d: %v", m.slot, err)
	}
	if len(names) == 0 {
		return false
	}
	arguments := []any{"MIGRATE", "127.0.0.1", strconv.Itoa(m.to.port), "", 0, 5000, "KEYS"}
	for _, name := range names {
		arguments = append(arguments, name)
	}
	if err := m.source.Do(tb.Context(), arguments...).Err(); err != nil {
		tb.Fatalf("move keys of slot %d: %v", m.slot, err)
	}
	return true
}

// End gives the slot to the target, and returns once all nodes know.
func (m *Migration) End(tb testing.TB) {
	tb.Helper()
	setSlot(tb, m.target, m.slot, "NODE", m.targetID)
	setSlot(tb, m.source, m.slot, "NODE", m.targetID)
	for _, node := range m.cluster.Nodes {
		client := node.Client(tb)
		// Gossip alone does not tell a node of it while two have the same epoch, as those of
		// a new cluster may.
		setSlot(tb, client, m.slot, "NODE", m.targetID)
		eventually(tb, "a node knows the slot's new owner", func(ctx context.Context) error {
			found, err := client.ClusterShards(ctx).Result()
			if err != nil {
				return fmt.Errorf("ask a node for the slots: %w", err)
			}
			for _, shard := range found {
				for _, slots := range shard.Slots {
					if slots.Start <= int64(m.slot) && int64(m.slot) <= slots.End && shard.Nodes[0].ID == m.targetID {
						return nil
					}
				}
			}
			return fmt.Errorf("slot %d is another's: %v", m.slot, found)
		})
	}
}

func setSlot(tb testing.TB, client *redis.Client, slot int, state, node string) {
	tb.Helper()
	if err := client.Do(tb.Context(), "CLUSTER", "SETSLOT", slot, state, node).Err(); err != nil {
		tb.Fatalf("set slot %d to %s: %v", slot, state, err)
	}
}

func nodeID(tb testing.TB, client *redis.Client) string {
	tb.Helper()
	id, err := client.Do(tb.Context(), "CLUSTER", "MYID").Text()
	if err != nil {
		tb.Fatalf("ask a node for its name: %v", err)
	}
	return id
}
