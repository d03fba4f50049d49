// Copyright The Penstock Authors.
// SPDX-License-Identifier: Apache-2.0

package limiter

import (
	"errors"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/penstock-dev/penstock/internal/redisconn"
	"github.com/penstock-dev/penstock/test/redistest"
)

func TestWithoutAConnectionARequestFailsAtOnce(t *testing.T) {
	t.Parallel()
	server := redistest.Start(t)
	limiter := newRedis(t, sidecarOptions(t, server.Addr()), patience)
	warm(t, limiter)
	held := hold(t, limiter)
	var running sync.WaitGroup
	var failures atomic.Int64
	began := time.Now()
	for i := range 20 {
		running.Go(func() {
			_, err := limiter.Decide(t.Context(), "shop", []Check{fixedWindowOf("a", 99, ages)})
			if ErrorKind(err) == KindConnection {
				failures.Add(1)
			}
		})
		awaitQueue(t, limiter, i+1)
	}
	server.Stop()
	for _, lost := range held {
		limiter.only().dispatcher.release(lost, true)
	}
	running.Wait()
	if took := time.Since(began); failures.Load() != 20 || took > patience/2 {
		t.Errorf("%d of 20 requests failed for want of a connection, in %v", failures.Load(), took)
	}
	server.Restart()
	requireCloses(t, limiter)
	awaitConnections(t, limiter)
	decide(t, limiter, fixedWindowOf("a", 99, ages))
}

// TestIdleConnectionsThatWereClosedAreReplaced has the server close connections
// while nobody asks. The next requests do not notice.
func TestIdleConnectionsThatWereClosedAreReplaced(t *testing.T) {
	t.Parallel()
	client := clientOf(t, redistest.Start(t))
	limiter := newRedis(t, sidecarOptions(t, client.Options().Addr), patience)
	awaitConnections(t, limiter)
	before := hold(t, limiter)
	for _, free := range before {
		limiter.only().dispatcher.release(free, false)
	}
	if err := client.ClientKillByFilter(t.Context(), "TYPE", "normal", "SKIPME", "yes").Err(); err != nil {
		t.Fatal(err)
	}
	await(t, func() error {
		limiter.only().dispatcher.mu.Lock()
		defer limiter.only().dispatcher.mu.Unlock()
		for _, idle := range limiter.only().dispatcher.idle {
			if slices.Contains(before, idle) {
				return errors.New("a connection that was closed is still kept")
			}
		}
		return nil
	})
	awaitConnections(t, limiter)
	decide(t, limiter, fixedWindowOf("a", 9, ages))
}

// TestABurstIsDecidedByTheStore is what happens when rules arrive and many requests
// wait for them: none may be decided otherwise.
func TestABurstIsDecidedByTheStore(t *testing.T) {
	// Alone, and patient, since the race detector makes everything slow.
	const sidecars, requests, limit, deadline = 4, 200, 100, 10 * redisconn.DefaultOperationTimeout
	server := redistest.Start(t)
	check := fixedWindowOf("a", limit, ages)
	var admitted, undecided atomic.Int64
	var running sync.WaitGroup
	for range sidecars {
		limiter := newRedis(t, sidecarOptions(t, server.Addr()), deadline)
		for range requests {
			running.Go(func() {
				decision, err := limiter.Decide(t.Context(), "shop", []Check{check})
				if err != nil {
					undecided.Add(1)
				}
				if decision.Allowed {
					admitted.Add(1)
				}
			})
		}
	}
	running.Wait()
	if admitted.Load() != limit || undecided.Load() != 0 {
		t.Errorf("%d admitted, %d undecided of %d requests, want %d and none", admitted.Load(), undecided.Load(), sidecars*requests, limit)
	}
}
