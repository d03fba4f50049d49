// Copyright The Penstock Authors.
// SPDX-License-Identifier: Apache-2.0

package limiter

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/penstock-dev/penstock/internal/redisconn"
)

const (
	// lookEvery is how often a cluster that works is asked for its nodes, ± 20 %, and
	// lookWhileFailing how often one of which a node fails.
	lookEvery        = 30 * time.Second
	lookWhileFailing = time.Second
	// lookPause is the least time between two looks, and as much again by chance: when
	// a slot moves, all sidecars hear of it at once.
	lookPause = 100 * time.Millisecond
	// nodesAsked is how many nodes a look asks, one after the other, before it tries
	// the addresses of the settings.
	nodesAsked = 3
)

// errNoNode says that no node is known that has a slot.
var errNoNode = fmt.Errorf("no node of the cluster is known to have the key's slot: %w", errNoConnection)

// cluster finds the nodes of a Redis Cluster and keeps a limiter's layout up to date:
// in the background, over connections of its own. No request waits for it.
type cluster struct {
	limiter *Redis
	// options are those of any node but for the address.
	options *redis.Options
	seeds   []string
	// stale gets a value when a look is due.
	stale chan struct{}
	// breaker counts requests for which there is no node.
	breaker breaker
	failure atomic.Pointer[error]
	// settled is closed after the first look.
	settled chan struct{}
	stop    context.CancelFunc
	running sync.WaitGroup
}

// newCluster returns a limiter on the cluster that some of these addresses belong to;
// see NewRedis. The options are those of any node but for the address.
func newCluster(options *redis.Options, seeds []string, r *Redis) *Redis {
	ctx, stop := context.WithCancel(context.Background())
	r.cluster = &cluster{
		limiter: r, options: options, seeds: seeds, stale: make(chan struct{}, 1), settled: make(chan struct{}), stop: stop,
	}
	r.layout.Store(&layout{})
	r.cluster.running.Go(func() { r.cluster.follow(ctx) })
	r.start()
	return r
}

func (c *cluster) await(ctx context.Context) {
	select {
	case <-c.settled:
	case <-ctx.Done():
	}
}

func (c *cluster) close() {
	c.stop()
	c.running.Wait()
}

// unknown is the error of a request for which there is no node.
func (c *cluster) unknown() error {
	if c.breaker.isOpen() {
		return ErrBreakerOpen
	}
	c.lookSoon()
	c.breaker.record(failed)
	if failure := c.failure.Load(); failure != nil {
		return errors.Join(errNoNode, *failure)
	}
	return errNoNode
}

// lookSoon has the nodes looked for: one has said that a slot is another's, or does
// not answer.
func (c *cluster) lookSoon() {
	select {
	case c.stale <- struct{}{}:
	default:
	}
}

// follow looks for the nodes again and again until the context ends.
func (c *cluster) follow(ctx context.Context) {
	settle := sync.OnceFunc(func() { close(c.settled) })
	defer settle()
	for ctx.Err() == nil {
		shards, err := c.look(ctx)
		c.failure.Store(&err)
		if err == nil {
			c.adopt(ctx, shards)
			c.breaker.close()
		}
		settle()
		if !wait(ctx, lookPause+rand.N(lookPause), nil) {
			return
		}
		every := lookEvery
		if err != nil || c.limiter.Open() {
			every = lookWhileFailing
		}
		wait(ctx, every-every/5+rand.N(2*every/5), c.stale)
	}
}

// wait waits until the time is over or there is a wake-up, and says whether the
// context has not ended.
func wait(ctx context.Context, pause time.Duration, wake <-chan struct{}) bool {
	timer := time.NewTimer(pause)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-wake:
	case <-ctx.Done():
	}
	return ctx.Err() == nil
}

// look asks one node after the other for the cluster's shards until one answers: those
// that work first, in random order, and then the addresses of the settings.
func (c *cluster) look(ctx context.Context) ([]redisconn.Shard, error) {
	var failures error
	for _, address := range c.candidates() {
		shards, err := redisconn.ReadShards(ctx, c.optionsFor(address))
		if err == nil {
			return shards, nil
		}
		failures = errors.Join(failures, err)
		if ctx.Err() != nil {
			break
		}
	}
	return nil, failures
}

func (c *cluster) candidates() []string {
	var found []string
	for address, n := range c.limiter.layout.Load().nodes {
		if len(found) < nodesAsked && !n.breaker.isOpen() {
			found = append(found, address)
		}
	}
	for _, at := range rand.Perm(len(c.seeds)) {
		if seed := c.seeds[at]; !slices.Contains(found, seed) {
			found = append(found, seed)
		}
	}
	return found
}

func (c *cluster) optionsFor(address string) *redis.Options {
	own := *c.options
	own.Addr = address
	return &own
}

// adopt puts a new layout in force. Connections to nodes that were not known before
// are made first; meanwhile the former layout stands, and what moved is followed.
func (c *cluster) adopt(ctx context.Context, shards []redisconn.Shard) {
	r := c.limiter
	before := r.layout.Load()
	nodes := make(map[string]*node, len(shards))
	var added []*node
	for _, shard := range shards {
		known, found := before.nodes[shard.Address]
		if !found {
			known = openNode(c.optionsFor(shard.Address), r.prefix, r.deadline, c.lookSoon)
			added = append(added, known)
		}
		nodes[shard.Address] = known
		known.probeFor(probeIdentityIn(shard.Slots))
	}
	both := maps.Clone(nodes)
	maps.Copy(both, before.nodes)
	r.layout.Store(&layout{ranges: before.ranges, nodes: both})
	for _, n := range added {
		n.keeper.Await(ctx)
	}
	r.layout.Store(layoutOf(shards, nodes))
	for address, n := range before.nodes {
		if nodes[address] == nil {
			c.running.Go(func() { c.retire(ctx, n) })
		}
	}
}

// retire closes a node that is part of the cluster no more, after what it was asked
// before has ended.
func (c *cluster) retire(ctx context.Context, n *node) {
	wait(ctx, c.limiter.deadline, nil)
	n.close()
}
