// Copyright The Penstock Authors.
// SPDX-License-Identifier: Apache-2.0

package redisconn

import (
	"context"
	"errors"
	"fmt"
	"net"
	"strconv"

	"github.com/redis/go-redis/v9"
)

// Shard is one master of a cluster and the slots that it has, none perhaps.
type Shard struct {
	// Address is the master's: host:port.
	Address string
	Slots   []SlotRange
}

// SlotRange is a range of hash slots, first and last included.
type SlotRange struct{ First, Last int }

// ReadShards asks a node of a cluster for all masters, over a connection of its
// own that is closed again, within the options' DialTimeout. The options are those
// of DecidingOptions with the node's address.
func ReadShards(ctx context.Context, options *redis.Options) ([]Shard, error) {
	ctx, cancel := context.WithTimeout(ctx, options.DialTimeout)
	defer cancel()
	link, err := openLink(ctx, options)
	if err != nil {
		return nil, fmt.Errorf("ask node %s for the cluster's shards: %w", options.Addr, err)
	}
	defer link.close()
	command := redis.NewClusterShardsCmd(ctx, "cluster", "shards")
	if err := link.Process(ctx, command); err != nil {
		return nil, fmt.Errorf("ask node %s for the cluster's shards: %w", options.Addr, err)
	}
	shards := mastersOf(command.Val(), options)
	if len(shards) == 0 {
		return nil, fmt.Errorf("ask node %s for the cluster's shards: %w", options.Addr, errNoMaster)
	}
	return shards, nil
}

var errNoMaster = errors.New("it knows no master; is it part of a cluster?")

// mastersOf is what a node says of the masters. One that failed and has no slots
// any more is left out.
func mastersOf(found []redis.ClusterShard, asked *redis.Options) []Shard {
	host, _, _ := net.SplitHostPort(asked.Addr)
	var shards []Shard
	for i := range found {
		master := masterOf(&found[i])
		if master == nil || master.Health == failed && len(found[i].Slots) == 0 {
			continue
		}
		made := Shard{Address: addressOf(master, host, asked.TLSConfig != nil)}
		for _, slots := range found[i].Slots {
			made.Slots = append(made.Slots, SlotRange{First: int(slots.Start), Last: int(slots.End)})
		}
		shards = append(shards, made)
	}
	return shards
}

// failed is the health of a node that others cannot reach.
const failed = "fail"

// masterOf is a shard's master. After a failover the former one is still called
// master until it is back, so one that works comes first.
func masterOf(shard *redis.ClusterShard) *redis.Node {
	var master *redis.Node
	for i := range shard.Nodes {
		node := &shard.Nodes[i]
		if node.Role == "master" && (master == nil || master.Health == failed) {
			master = node
		}
	}
	return master
}

// addressOf is a node's address. An endpoint that is empty is the host that was
// asked, and "?" is a name that the node was not given.
func addressOf(node *redis.Node, asked string, secured bool) string {
	host := node.Endpoint
	switch host {
	case "":
		host = asked
	case "?":
		host = node.IP
	}
	port := node.Port
	if secured && node.TLSPort > 0 || port == 0 {
		port = node.TLSPort
	}
	return net.JoinHostPort(host, strconv.FormatInt(port, 10))
}
