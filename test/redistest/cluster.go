// Copyright The Penstock Authors.
// SPDX-License-Identifier: Apache-2.0

package redistest

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
)

// Cluster is a Redis Cluster of three masters that share all slots.
type Cluster struct {
	Nodes []*Server
}

// slots are the ranges of hash slots of the three masters.
var slots = [][2]int{{0, 5460}, {5461, 10922}, {10923, 16383}}

// StartCluster runs a cluster of three masters until the test ends. It returns
// once every node sees the cluster as whole. While a node is gone the others go on
// with their own slots.
func StartCluster(tb testing.TB) *Cluster {
	tb.Helper()
	c := &Cluster{}
	for _, own := range slots {
		node := Start(tb, WithConfig("cluster-enabled yes", "cluster-config-file nodes.conf",
			"cluster-port {bus}", "cluster-node-timeout 2000", "cluster-require-full-coverage no"))
		if err := node.Client(tb).ClusterAddSlotsRange(tb.Context(), own[0], own[1]).Err(); err != nil {
			tb.Fatalf("give slots to a cluster node: %v", err)
		}
		c.Nodes = append(c.Nodes, node)
	}
	for _, other := range c.Nodes[1:] {
		meet := []any{"CLUSTER", "MEET", "127.0.0.1", other.port, other.busPort}
		if err := c.Nodes[0].Client(tb).Do(tb.Context(), meet...).Err(); err != nil {
			tb.Fatalf("introduce cluster nodes: %v", err)
		}
	}
	for _, node := range c.Nodes {
		client := node.Client(tb)
		eventually(tb, "cluster nodes know one another", func(ctx context.Context) error {
			state, err := client.ClusterInfo(ctx).Result()
			if err != nil {
				return fmt.Errorf("ask a node for the cluster's state: %w", err)
			}
			if !strings.Contains(state, "cluster_state:ok") || !strings.Contains(state, "cluster_known_nodes:3") {
				return errors.New(state)
			}
			// Announcements cross only to nodes that have shaken hands.
			nodes, err := client.ClusterNodes(ctx).Result()
			if err != nil {
				return fmt.Errorf("ask a node for the others: %w", err)
			}
			if strings.Contains(nodes, "handshake") || strings.Contains(nodes, "disconnected") || strings.Contains(nodes, "noaddr") {
				return errors.New(nodes)
			}
			return nil
		})
	}
	return c
}

// Addrs are the addresses of the nodes.
func (c *Cluster) Addrs() []string { return addresses(c.Nodes) }

// NodeOf is the node that a cluster has for a slot when it starts.
func (c *Cluster) NodeOf(slot int) *Server {
	for i, own := range slots {
		if own[0] <= slot && slot <= own[1] {
			return c.Nodes[i]
		}
	}
	return nil
}
