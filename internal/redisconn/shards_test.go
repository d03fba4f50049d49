// Copyright The Penstock Authors.
// SPDX-License-Identifier: Apache-2.0

package redisconn

import (
	"crypto/tls"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/redis/go-redis/v9"

	"github.com/penstock-dev/penstock/test/redistest"
)

func TestReadShards(t *testing.T) {
	t.Parallel()
	cluster := redistest.StartCluster(t)
	options, err := DecidingOptions(Settings{Mode: Cluster, Addresses: cluster.Addrs()[1:2], DialTimeout: 5 * time.Second})
	if err != nil {
		t.Fatal(err)
	}
	shards, err := ReadShards(t.Context(), options)
	if err != nil {
		t.Fatal(err)
	}
	slices.SortFunc(shards, func(a, b Shard) int { return a.Slots[0].First - b.Slots[0].First })
	want := []Shard{
		{Address: cluster.Addrs()[0], Slots: []SlotRange{{0, 5460}}},
		{Address: cluster.Addrs()[1], Slots: []SlotRange{{5461, 10922}}},
		{Address: cluster.Addrs()[2], Slots: []SlotRange{{10923, 16383}}},
	}
	if diff := cmp.Diff(want, shards); diff != "" {
		t.Errorf("shards (-want +got):\n%s", diff)
	}
}

func TestReadShardsOfNoCluster(t *testing.T) {
	t.Parallel()
	options, err := DecidingOptions(Settings{Addresses: []string{redistest.Start(t).Addr()}, DialTimeout: 5 * time.Second})
	if err != nil {
		t.Fatal(err)
	}
	_, err = ReadShards(t.Context(), options)
	if err == nil || !strings.Contains(err.Error(), options.Addr) {
		t.Errorf("shards of a server alone: %v, want an error that names %s", err, options.Addr)
	}
}

func TestMastersOf(t *testing.T) {
	t.Parallel()
	slots := []redis.SlotRange{{Start: 1, End: 2}, {Start: 5, End: 5}}
	ranges := []SlotRange{{1, 2}, {5, 5}}
	node := func(change func(*redis.Node)) redis.Node {
		made := redis.Node{Endpoint: "10.0.0.1", IP: "10.0.0.1", Port: 6379, Role: "master", Health: "online"}
		change(&made)
		return made
	}
	same := func(*redis.Node) {}
	failing := func(n *redis.Node) { n.Endpoint, n.Health = "10.0.0.9", "fail" }
	tests := map[string]struct {
		nodes   []redis.Node
		noSlots bool
		secured bool
		want    string
	}{
		"master":                  {nodes: []redis.Node{node(same)}, want: "10.0.0.1:6379"},
		"master without slots":    {nodes: []redis.Node{node(same)}, noSlots: true, want: "10.0.0.1:6379"},
		"replica first":           {nodes: []redis.Node{node(func(n *redis.Node) { n.Role, n.Endpoint = "replica", "10.0.0.2" }), node(same)}, want: "10.0.0.1:6379"},
		"failed master":           {nodes: []redis.Node{node(failing)}, want: "10.0.0.9:6379"},
		"failed master, replaced": {nodes: []redis.Node{node(failing), node(same)}, want: "10.0.0.1:6379"},
		"failed master of before": {nodes: []redis.Node{node(failing)}, noSlots: true},
		"its own host":            {nodes: []redis.Node{node(func(n *redis.Node) { n.Endpoint = "" })}, want: "asked.test:6379"},
		"a name that is unknown":  {nodes: []redis.Node{node(func(n *redis.Node) { n.Endpoint = "?" })}, want: "10.0.0.1:6379"},
		"a name":                  {nodes: []redis.Node{node(func(n *redis.Node) { n.Endpoint = "one.test" })}, want: "one.test:6379"},
		"IPv6":                    {nodes: []redis.Node{node(func(n *redis.Node) { n.Endpoint = "2001:db8::1" })}, want: "[2001:db8::1]:6379"},
		"both ports, TLS":         {nodes: []redis.Node{node(func(n *redis.Node) { n.TLSPort = 6380 })}, secured: true, want: "10.0.0.1:6380"},
		"both ports":              {nodes: []redis.Node{node(func(n *redis.Node) { n.TLSPort = 6380 })}, want: "10.0.0.1:6379"},
		"TLS port alone":          {nodes: []redis.Node{node(func(n *redis.Node) { n.Port, n.TLSPort = 0, 6380 })}, secured: true, want: "10.0.0.1:6380"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			shard := redis.ClusterShard{Nodes: tc.nodes, Slots: slots}
			asked := &redis.Options{Addr: "asked.test:7000"}
			want := []Shard{{Address: tc.want, Slots: ranges}}
			if tc.noSlots {
				shard.Slots, want[0].Slots = nil, nil
			}
			if tc.secured {
				asked.TLSConfig = &tls.Config{MinVersion: tls.VersionTLS12}
			}
			if tc.want == "" {
				want = nil
			}
			if diff := cmp.Diff(want, mastersOf([]redis.ClusterShard{shard}, asked)); diff != "" {
				t.Errorf("masters (-want +got):\n%s", diff)
			}
		})
	}
}
