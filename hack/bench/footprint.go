// Copyright The Penstock Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"fmt"
	"io"
	"sync"
	"sync/atomic"
	"time"

	"github.com/penstock-dev/penstock/internal/keys"
	"github.com/penstock-dev/penstock/internal/limiter"
	"github.com/penstock-dev/penstock/internal/ruleset"
)

const (
	// writers is how many fill the store at once.
	writers = 256
	// packed is up to how many entries of a log lie in one piece, as Redis comes.
	packed = 128
	// longestLog is how many entries a log has at most.
	longestLog = 10_000
)

// footprint is what one key takes in Redis, its name and expiry and its share of the
// hash tables included.
type footprint struct {
	name  string
	keys  int64
	bytes float64
	// target is how many bytes it may take at most; 0 has no target.
	target float64
	// entry says that it is about an entry of a log, not a key.
	entry bool
}

// kept is a kind of key to measure.
type kept struct {
	name   string
	limit  ruleset.Limit
	target float64
}

func keptKinds() []kept {
	// No key may expire while others are written.
	const hour = int64(time.Hour / time.Microsecond)
	return []kept{
		{"TokenBucket, integer state", limitOf(ruleset.TokenBucket, 1, hour), 140},
		{"TokenBucket, other state", limitOf(ruleset.TokenBucket, 1009, 1000*hour), 180},
		{"FixedWindow", limitOf(ruleset.FixedWindow, 1000, hour), 140},
		{"SlidingWindowCounter", limitOf(ruleset.SlidingWindowCounter, 1000, hour), 180},
		{"SlidingWindowLog of one request", limitOf(ruleset.SlidingWindowLog, 1000, hour), 0},
		{"Concurrency, one place held", limitOf(ruleset.Concurrency, 1000, 0), 0},
	}
}

func measureFootprints(ctx context.Context, s *server, count int, progress io.Writer) ([]footprint, error) {
	if count == 0 {
		return nil, nil
	}
	connected, err := connect(ctx, s.address)
	if err != nil {
		return nil, err
	}
	defer connected.Close()
	var found []footprint
	for _, kind := range keptKinds() {
		count := count
		if kind.limit.Algorithm == ruleset.Concurrency {
			// Requests are taken for being under way, and renew their places after a
			// while. An eighth fills the hash tables to the same degree, in less time.
			count /= 8
		}
		fmt.Fprintf(progress, "memory of %d keys: %s\n", count, kind.name)
		each, made, err := bytesPerKey(ctx, s, connected, &kind.limit, count)
		if err != nil {
			return nil, err
		}
		found = append(found, footprint{name: kind.name, keys: made, bytes: each, target: kind.target})
	}
	entry, err := bytesPerEntry(ctx, s, connected)
	if err != nil {
		return nil, err
	}
	return append(found, footprint{name: "SlidingWindowLog, an entry beyond 128", bytes: entry, target: 12, entry: true}), nil
}

// bytesPerEntry compares a long log with a short one.
func bytesPerEntry(ctx context.Context, s *server, l *limiter.Redis) (float64, error) {
	limit := limitOf(ruleset.SlidingWindowLog, longestLog, int64(time.Hour/time.Microsecond))
	var took [2]int64
	for i, entries := range []int64{packed, longestLog} {
		if err := s.empty(ctx); err != nil {
			return 0, err
		}
		if err := fill(ctx, l, &limit, entries, 1); err != nil {
			return 0, fmt.Errorf("fill a log: %w", err)
		}
		var err error
		name := keys.Prefix(keys.DefaultPrefix).Counter(namespace, identity(0), limit.Key)
		// All entries are looked at, not a sample.
		if took[i], err = s.client.MemoryUsage(ctx, name, 0).Result(); err != nil {
			return 0, fmt.Errorf("ask Redis what a log takes: %w", err)
		}
	}
	return float64(took[1]-took[0]) / (longestLog - packed), nil
}

// bytesPerKey charges a limit for so many clients, and says what each key takes and
// how many there are.
func bytesPerKey(ctx context.Context, s *server, l *limiter.Redis, limit *ruleset.Limit, wanted int) (float64, int64, error) {
	if err := s.empty(ctx); err != nil {
		return 0, 0, err
	}
	before, err := s.memory(ctx)
	if err != nil {
		return 0, 0, err
	}
	if err := fill(ctx, l, limit, 1, wanted); err != nil {
		return 0, 0, fmt.Errorf("fill Redis with keys: %w", err)
	}
	after, err := s.memory(ctx)
	if err != nil {
		return 0, 0, err
	}
	count, err := s.client.DBSize(ctx).Result()
	if err != nil {
		return 0, 0, fmt.Errorf("count the keys: %w", err)
	}
	return float64(after-before) / float64(max(count, 1)), count, nil
}

func fill(ctx context.Context, l *limiter.Redis, limit *ruleset.Limit, cost int64, wanted int) error {
	ctx, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	var next atomic.Int64
	var running sync.WaitGroup
	for range writers {
		running.Go(func() {
			for ctx.Err() == nil {
				client := next.Add(1) - 1
				if client >= int64(wanted) {
					return
				}
				check := checkOf(limit, identity(int(client)))
				check.Cost = cost
				if err := admitted(l.Decide(ctx, namespace, []limiter.Check{check})); err != nil {
					stop(err)
				}
			}
		})
	}
	running.Wait()
	return context.Cause(ctx)
}
