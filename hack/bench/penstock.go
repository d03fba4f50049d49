// Copyright The Penstock Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"fmt"
	"time"

	"github.com/penstock-dev/penstock/internal/keys"
	"github.com/penstock-dev/penstock/internal/limiter"
	"github.com/penstock-dev/penstock/internal/redisconn"
	"github.com/penstock-dev/penstock/internal/ruleset"
)

const (
	// namespace is as long as the memory targets assume at most.
	namespace = "storage"
	// patience is the deadline of a decision: a pause of the machine is no failure here.
	patience = 5 * time.Second
)

// connect returns a limiter as the sidecar makes it, connected.
func connect(ctx context.Context, address string) (*limiter.Redis, error) {
	connected, err := limiter.Connect(redisconn.Settings{
		Addresses: []string{address}, KeyPrefix: keys.DefaultPrefix, DialTimeout: patience, OperationTimeout: patience,
	})
	if err != nil {
		return nil, fmt.Errorf("connect the limiter: %w", err)
	}
	connected.Await(ctx)
	return connected, nil
}

// algorithm is one that the limiter knows, with a limit that admits all requests.
type algorithm struct {
	class class
	limit ruleset.Limit
}

// algorithms are those of ruleset.
func algorithms() []algorithm {
	const second = int64(time.Second / time.Microsecond)
	return []algorithm{
		{bucketClass, limitOf(ruleset.TokenBucket, 1_000_000, second)},
		{bucketClass, limitOf(ruleset.LeakyBucket, 1_000_000, second)},
		{windowClass, limitOf(ruleset.FixedWindow, 1_000_000_000, 3600*second)},
		{slidingClass, limitOf(ruleset.SlidingWindowCounter, 1_000_000_000, 3600*second)},
		{slidingClass, limitOf(ruleset.SlidingWindowLog, 10_000, second)},
		{concurrencyClass, limitOf(ruleset.Concurrency, 1_000_000, 0)},
	}
}

// limitOf is a limit of so many requests in a window of microseconds. Its key is as
// long as the compiler's.
func limitOf(kind ruleset.Algorithm, requests, window int64) ruleset.Limit {
	return ruleset.Limit{
		Name: string(kind), Algorithm: kind, Requests: requests, WindowMicros: window, Burst: requests,
		Key: (string(kind) + "________")[:8],
	}
}

// checkOf is a request of a client that meets one limit.
func checkOf(limit *ruleset.Limit, identity string) limiter.Check {
	return limiter.Check{
		Kind: "RateLimitPolicy", Policy: "storefront", Rule: "all", Limit: limit, Identity: identity, Cost: 1,
	}
}

func openPenstock(ctx context.Context, address string) ([]contender, error) {
	var opened []contender
	for _, known := range algorithms() {
		connected, err := connect(ctx, address)
		if err != nil {
			return nil, err
		}
		checks := make([][]limiter.Check, clients)
		for i, client := range identities() {
			checks[i] = []limiter.Check{checkOf(&known.limit, client)}
		}
		opened = append(opened, contender{
			name: "Penstock " + string(known.limit.Algorithm), ours: true, class: known.class, close: connected.Close,
			check: func(ctx context.Context, client int) error {
				decision, err := connected.Decide(ctx, namespace, checks[client])
				// Who takes a place gives it back: a check of Concurrency is both.
				decision.Receipt.Settle(nil)
				return admitted(decision, err)
			},
		})
	}
	return opened, nil
}

func admitted(decision limiter.Decision, err error) error {
	if err == nil && !decision.Allowed {
		return errRefused
	}
	return err
}
