// Copyright The Penstock Authors.
// SPDX-License-Identifier: Apache-2.0

package limiter

import (
	"fmt"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/penstock-dev/penstock/internal/keys"
	"github.com/penstock-dev/penstock/internal/ruleset"
	"github.com/penstock-dev/penstock/test/redistest"
)

// TestKeysTakeLittleMemory asks Redis what a key of each algorithm takes, in a
// namespace of seven characters.
func TestKeysTakeLittleMemory(t *testing.T) {
	t.Parallel()
	client := clientOf(t, redistest.Start(t))
	limiter := newRedis(t, client.Options(), patience)
	day := ruleset.Calendar{Period: ruleset.PeriodDay, TimeZone: "Europe/Berlin"}
	tests := map[string]struct {
		check     Check
		wantBytes int64
	}{
		"bucket":                 {tokenBucketOf("a", 10, 10, time.Minute), 140},
		"bucket with many parts": {tokenBucketOf("b", 1009, 10, time.Minute), 180},
		"window":                 {fixedWindowOf("a", 10, time.Minute), 140},
		"window of the calendar": {calendarOfClient("a", 10, day), 140},
		"counter":                {slidingWindowCounterOf("a", 10, time.Minute), 180},
		"counter, most requests": {costing(slidingWindowCounterOf("a", maxRequests, time.Second), maxRequests), 180},
		"log of one":             {slidingWindowLogOf("a", 1, time.Minute), 280},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			if got := footprint(t, client, limiter, tc.check); got > tc.wantBytes {
				t.Errorf("the key takes %d bytes, want at most %d", got, tc.wantBytes)
			}
		})
	}
	t.Run("entries of logs", func(t *testing.T) {
		var took []int64
		for _, entries := range []int64{128, maxLogged} {
			check := costing(slidingWindowLogOf(fmt.Sprint("log of ", entries), entries, time.Minute), entries)
			took = append(took, footprint(t, client, limiter, check))
		}
		if each := (took[1] - took[0]) / (maxLogged - 128); each > 12 {
			t.Errorf("an entry beyond 128 takes %d bytes, want at most 12", each)
		}
	})
}

// footprint charges a check and returns what its key takes then.
func footprint(t *testing.T, client *redis.Client, limiter *Redis, check Check) int64 {
	t.Helper()
	const namespace = "storage"
	if got, err := limiter.Decide(t.Context(), namespace, []Check{check}); err != nil || !got.Allowed {
		t.Fatalf("decide: %+v, %v, want admitted", got, err)
	}
	name := keys.Prefix(keys.DefaultPrefix).Counter(namespace, check.Identity, check.Limit.Key)
	// All entries of a list are looked at, not a sample.
	bytes, err := client.MemoryUsage(t.Context(), name, 0).Result()
	if err != nil {
		t.Fatal(err)
	}
	return bytes
}
