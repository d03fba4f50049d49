// Copyright The Penstock Authors.
// SPDX-License-Identifier: Apache-2.0

package limiter

import (
	"fmt"
	"testing"
	"time"

	"github.com/penstock-dev/penstock/internal/keys"
	"github.com/penstock-dev/penstock/test/redistest"
)

// BenchmarkDecide compares one decision with one call of a script that does
// nothing, on the same Redis and the same client.
func BenchmarkDecide(b *testing.B) {
	client := sidecarClient(b, redistest.Start(b).Addr(), patience)
	bare := newScript("return {1, 0, 0}")
	b.Run("bare EVALSHA", func(b *testing.B) {
		for b.Loop() {
			if _, err := bare.run(b.Context(), client, []string{"key"}, nil); err != nil {
				b.Fatal(err)
			}
		}
	})
	limiter := NewRedis(client, keys.DefaultPrefix, patience)
	b.Cleanup(limiter.Close)
	for name, checks := range map[string][]Check{
		"bucket":  {tokenBucketOf("a", 1_000_000, 1_000_000, time.Second)},
		"window":  {fixedWindowOf("a", 1_000_000_000, ages)},
		"both":    {tokenBucketOf("b", 1_000_000, 1_000_000, time.Second), fixedWindowOf("b", 1_000_000_000, ages)},
		"refused": {fixedWindowOf("c", 1, ages)},
	} {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				if _, err := limiter.Decide(b.Context(), "shop", checks); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// BenchmarkMemory is a decision without a store, with many clients.
func BenchmarkMemory(b *testing.B) {
	limiter := NewMemory(nil, 0)
	checks := make([][]Check, 1000)
	for i := range checks {
		checks[i] = []Check{tokenBucketOf(fmt.Sprint(i), 100, 100, time.Second)}
	}
	next := 0
	for b.Loop() {
		if _, err := limiter.Decide(b.Context(), "shop", checks[next%len(checks)]); err != nil {
			b.Fatal(err)
		}
		next++
	}
}
