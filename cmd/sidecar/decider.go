// Copyright The Penstock Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"errors"
	"sync/atomic"

	"github.com/penstock-dev/penstock/internal/limiter"
)

// errNoStore says that no settings of a store are mounted yet.
var errNoStore = errors.New("no store is known yet")

// currentDecider asks the limiter of the store that is connected now. Stores are
// exchanged under way when credentials rotate.
type currentDecider struct {
	limiter atomic.Pointer[limiter.Redis]
}

var _ limiter.Decider = (*currentDecider)(nil)

// Decide implements limiter.Decider.
func (d *currentDecider) Decide(ctx context.Context, namespace string, checks []limiter.Check) (limiter.Decision, error) {
	connected := d.limiter.Load()
	if connected == nil {
		return limiter.Decision{}, errNoStore
	}
	return connected.Decide(ctx, namespace, checks)
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
