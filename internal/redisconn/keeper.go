// Copyright The Penstock Authors.
// SPDX-License-Identifier: Apache-2.0

package redisconn

import (
	"context"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"time"

	"github.com/redis/go-redis/v9"
)

const (
	// The pause before a connection is made again doubles from the least to the
	// most. Half of it is random, so that many sidecars do not come all at once.
	pauseLeast = 10 * time.Millisecond
	pauseMost  = time.Second
	// steadyAfter is how long a connection must have lasted for the pauses to begin
	// at the least again: a store that greets and then refuses is no better than one
	// that cannot be reached.
	steadyAfter = time.Second
)

// Keeper keeps connections to one Redis open: it makes them ahead of need and in
// the background, and makes another for each that is lost.
type Keeper struct {
	options *redis.Options
	opened  func(*Link)
	stop    context.CancelFunc
	running sync.WaitGroup
	// settled is closed once a connection is open, or none could be made at first.
	settled chan struct{}
	settle  func()
	failure atomic.Pointer[error]
}

// Keep keeps so many connections open until it is closed, and gives each to opened
// when it can be used.
func Keep(options *redis.Options, count int, opened func(*Link)) *Keeper {
	k := &Keeper{options: options, opened: opened, settled: make(chan struct{})}
	k.settle = sync.OnceFunc(func() { close(k.settled) })
	ctx, stop := context.WithCancel(context.Background())
	k.stop = stop
	var first sync.WaitGroup
	first.Add(count)
	for range count {
		k.running.Go(func() { k.keep(ctx, sync.OnceFunc(first.Done)) })
	}
	k.running.Go(func() {
		first.Wait()
		k.settle()
	})
	return k
}

// Failure is why the last attempt to make a connection failed; nil if it did not.
func (k *Keeper) Failure() error {
	if failure := k.failure.Load(); failure != nil {
		return *failure
	}
	return nil
}

// Await returns once a connection is open, or the first attempts to make one have
// failed, which takes the options' DialTimeout at most, or the context has ended.
func (k *Keeper) Await(ctx context.Context) {
	select {
	case <-k.settled:
	case <-ctx.Done():
	}
}

// Close closes all connections, also those in use, and waits until it is done.
func (k *Keeper) Close() {
	k.stop()
	k.running.Wait()
}

// keep keeps one connection open. It calls tried after the first attempt.
func (k *Keeper) keep(ctx context.Context, tried func()) {
	defer tried()
	for failures := 0; ctx.Err() == nil; pause(ctx, failures) {
		link, err := openLink(ctx, k.options)
		k.failure.Store(&err)
		if err != nil {
			failures++
			tried()
			continue
		}
		since := time.Now()
		k.opened(link)
		k.settle()
		tried()
		select {
		case <-link.lost:
		case <-ctx.Done():
		}
		link.close()
		failures++
		if time.Since(since) > steadyAfter {
			failures = 0
		}
	}
}

func pause(ctx context.Context, failures int) {
	timer := time.NewTimer(pauseAfter(failures))
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-ctx.Done():
	}
}

// pauseAfter is the pause after so many failures in a row.
func pauseAfter(failures int) time.Duration {
	pause := min(pauseLeast<<min(failures, 10), pauseMost)
	return pause/2 + rand.N(pause/2)
}
