// Copyright The Penstock Authors.
// SPDX-License-Identifier: Apache-2.0

package redistest

import (
	"context"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
)

const (
	// expiryPage is how many keys are looked at in one go.
	expiryPage = 10_000
	// expiryPatience bounds one go: the embedded store sorts all its keys for each.
	expiryPatience = 30 * time.Second
	// immortal is what PTTL says of a key that lives for ever.
	immortal = -1
)

// RequireExpiries fails the test if a key that fits the pattern lives for ever, and
// returns how many keys fit.
func RequireExpiries(t *testing.T, client redis.UniversalClient, pattern string) (found int) {
	t.Helper()
	var cursor uint64
	for {
		names, next := scanPage(t, client, pattern, cursor)
		found += len(names)
		cursor = next
		if cursor == 0 {
			return found
		}
	}
}

func scanPage(t *testing.T, client redis.UniversalClient, pattern string, cursor uint64) (names []string, next uint64) {
	t.Helper()
	// A test's own context has ended when its cleanups run.
	ctx, cancel := context.WithTimeout(context.WithoutCancel(t.Context()), expiryPatience)
	defer cancel()
	names, next, err := client.Scan(ctx, cursor, pattern, expiryPage).Result()
	if err != nil {
		t.Fatalf("look for keys without expiry: %v", err)
	}
	if len(names) == 0 {
		return nil, next
	}
	left := make([]*redis.DurationCmd, len(names))
	// Each command keeps its own error, which is looked at below.
	_, _ = client.Pipelined(ctx, func(pipeline redis.Pipeliner) error {
		for i, name := range names {
			left[i] = pipeline.PTTL(ctx, name)
		}
		return nil
	})
	for i, name := range names {
		if ttl, err := left[i].Result(); err != nil || ttl == immortal {
			t.Errorf("key %q has no expiry (%v)", name, err)
		}
	}
	return names, next
}
