// Copyright The Penstock Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"errors"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/penstock-dev/penstock/internal/limiter"
)

// errNoStore says that no settings of a store are mounted yet.
var errNoStore = errors.New("no store is known yet")

// currentDecider asks the limiter of the store that is connected now. Stores are
// exchanged under way when credentials rotate.
type currentDecider struct {
	limiter atomic.Pointer[limiter.Redis]

	mu sync.Mutex
	// latest are the limiters of the last stores: requests that they admitted may
	// still be answered, and their corrections be lost.
	latest []*limiter.Redis
	// lost is what those before them lost.
	lost int64
}

// mostLatest is of how many stores losses are still noticed.
const mostLatest = 8

var _ limiter.Decider = (*currentDecider)(nil)

// Decide implements limiter.Decider.
func (d *currentDecider) Decide(ctx context.Context, namespace string, checks []limiter.Check) (limiter.Decision, error) {
	connected := d.limiter.Load()
	if connected == nil {
		return limiter.Decision{}, errNoStore
	}
	return connected.Decide(ctx, namespace, checks)
}

// use has a limiter decide from now on. Places that requests hold which the one before
// admitted are its own from then on: mostly it asks the same store, by other credentials.
func (d *currentDecider) use(connected *limiter.Redis) {
	if before := d.limiter.Swap(connected); before != nil {
		before.HandOver(connected)
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	d.latest = append(d.latest, connected)
	if len(d.latest) > mostLatest {
		d.lost += d.latest[0].CorrectionsLost()
		d.latest = slices.Delete(d.latest, 0, 1)
	}
}

// correctionsLost is how many corrections never reached their store. It only grows.
func (d *currentDecider) correctionsLost() int64 {
	d.mu.Lock()
	defer d.mu.Unlock()
	sum := d.lost
	for _, used := range d.latest {
		sum += used.CorrectionsLost()
	}
	return sum
}

// breakerOpen reports whether decisions do without the store at present.
func (d *currentDecider) breakerOpen() bool {
	connected := d.limiter.Load()
	return connected != nil && connected.Open()
}

// countedDecider counts what was decided without the store, for the ack.
type countedDecider struct {
	next      limiter.Decider
	undecided atomic.Int64
}

var _ limiter.Decider = (*countedDecider)(nil)

// Decide implements limiter.Decider.
func (d *countedDecider) Decide(ctx context.Context, namespace string, checks []limiter.Check) (limiter.Decision, error) {
	decision, err := d.next.Decide(ctx, namespace, checks)
	if err != nil || decision.Source != limiter.Store {
		d.undecided.Add(1)
	}
	return decision, err
}
