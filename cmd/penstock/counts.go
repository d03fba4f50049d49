// Copyright The Penstock Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"strings"
	"time"

	"github.com/penstock-dev/penstock/internal/limiter"
	"github.com/penstock-dev/penstock/internal/proxy"
	"github.com/penstock-dev/penstock/internal/redisconn"
)

// memoryStore is the value of --store that counts in this process.
const memoryStore = "memory"

// firstContact bounds how long the store may take to answer at the start.
const firstContact = 5 * time.Second

// sayAfter is how long a store may take to answer before a person is told what is
// waited for.
const sayAfter = 200 * time.Millisecond

// watchEvery is how often the state of the store is looked at.
const watchEvery = 250 * time.Millisecond

// countStore is where requests are counted.
type countStore struct {
	// name is what people read.
	name    string
	limiter limiter.Decider
	// isAway says that the store failed and is not asked at present.
	isAway func() bool
	// lost is how many corrections never reached the store.
	lost func() int64
	// forgotten is how many counters in memory made room for others.
	forgotten func() int64
	close     func()
}

// openStore opens what --store names. A Redis must answer now: a person who tries
// things out wants to know of a wrong address at once, and is told on stderr what is
// waited for. When ctx ends meanwhile, its error is returned at once.
func openStore(ctx context.Context, flags *runFlags, stderr io.Writer) (*countStore, error) {
	if flags.store == memoryStore {
		memory := limiter.NewMemory(nil, flags.memoryKeys)
		return &countStore{
			name: "memory of this process", limiter: memory, forgotten: memory.Forgotten,
			isAway: func() bool { return false }, lost: func() int64 { return 0 }, close: func() {},
		}, nil
	}
	settings, err := redisconn.ParseURL(flags.store)
	if err != nil {
		return nil, fmt.Errorf("%w: --store: %w; or write --store memory", errUsage, err)
	}
	settings.OperationTimeout = flags.timeout
	if err := waitFor(ctx, settings, stderr); ctx.Err() != nil {
		return nil, ctx.Err()
	} else if err != nil {
		return nil, fmt.Errorf("reach the store at %s: %w; start it, correct --store, or count with --store memory", strings.Join(settings.Addresses, ", "), err)
	}
	redis, err := limiter.Connect(settings)
	if err != nil {
		return nil, fmt.Errorf("%w: --store: %w", errUsage, err)
	}
	redis.Await(ctx)
	return &countStore{
		name: nameOf(settings), limiter: redis, isAway: redis.Open, lost: redis.CorrectionsLost,
		forgotten: func() int64 { return 0 }, close: redis.Close,
	}, nil
}

// nameOf is what people read of a store.
func nameOf(settings redisconn.Settings) string {
	addresses := strings.Join(settings.Addresses, ", ")
	switch settings.Mode {
	case redisconn.Sentinel:
		return fmt.Sprintf("Redis %s behind the sentinels at %s", settings.MasterName, addresses)
	case redisconn.Cluster:
		return "Redis Cluster at " + addresses
	default:
		return "Redis at " + addresses
	}
}

// waitFor waits for the store's sign of life, and for nothing more once ctx ends.
func waitFor(ctx context.Context, settings redisconn.Settings, stderr io.Writer) error {
	answered := make(chan error, 1)
	// It ends by itself, at the latest after firstContact.
	go func() { answered <- contact(ctx, settings) }()
	say := time.NewTimer(sayAfter)
	defer say.Stop()
	for {
		select {
		case err := <-answered:
			return err
		case <-ctx.Done():
			return ctx.Err()
		case <-say.C:
			// An output that is closed is no reason to end.
			_, _ = fmt.Fprintf(stderr, "waiting up to %s for an answer of %s; Ctrl-C ends it\n", firstContact, nameOf(settings))
		}
	}
}

// contact asks the store for a sign of life, as the patient client that it makes.
func contact(ctx context.Context, settings redisconn.Settings) error {
	ctx, cancel := context.WithTimeout(ctx, firstContact)
	defer cancel()
	client, err := redisconn.New(settings)
	if err != nil {
		return err
	}
	return errors.Join(client.Ping(ctx).Err(), client.Close())
}

// decider never fails: while the store is away, each rule's onStoreFailure decides.
func (c *countStore) decider(metrics *proxy.Metrics, memoryKeys int) limiter.Decider {
	fallback := limiter.WithFallback(c.limiter, limiter.FallbackOptions{OnStoreError: metrics.StoreError, MaxKeys: memoryKeys})
	ofPod := limiter.NewMemory(nil, memoryKeys)
	inStore := c.forgotten
	c.forgotten = func() int64 { return inStore() + fallback.Forgotten() + ofPod.Forgotten() }
	return limiter.WithPodScope(fallback, ofPod)
}

// state tells of the store, for /debug.
func (c *countStore) state() proxy.StoreState {
	return proxy.StoreState{Kind: c.name, BreakerOpen: c.isAway(), CorrectionsLost: c.lost(), MemoryForgotten: c.forgotten()}
}

// watch says when the store goes away and comes back, until ctx ends.
func (c *countStore) watch(ctx context.Context, metrics *proxy.Metrics, logger *slog.Logger) {
	ticker := time.NewTicker(watchEvery)
	defer ticker.Stop()
	wasAway := false
	for {
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
		}
		away := c.isAway()
		if away == wasAway {
			continue
		}
		wasAway = away
		metrics.SetBreakerOpen(away)
		if away {
			logger.Warn("The store fails and is not asked: each rule's onStoreFailure decides", "store", c.name)
		} else {
			logger.Warn("The store decides again", "store", c.name)
		}
	}
}

// identityKey keys the hash of identities. Processes that count in the same store and
// namespace must agree on it, however each of them spells the store's address: so only
// the password is taken from that, without which nobody can try out which client a name
// of a key stands for.
func identityKey(store, namespace string) []byte {
	password := ""
	if settings, err := redisconn.ParseURL(store); err == nil {
		password = settings.Password
	}
	sum := sha256.Sum256(fmt.Appendf(nil, "penstock run %d %s %s", len(password), password, namespace))
	return sum[:]
}
