// Copyright The Penstock Authors.
// SPDX-License-Identifier: Apache-2.0

package limiter

import (
	"fmt"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/penstock-dev/penstock/test/redistest"
)

// BenchmarkDecide compares decisions with bare calls, of a script that does nothing
// and of the limiter's own, on the same Redis, for so many callers at once. Each caller has a counter of its
// own. It reports how much of Redis' time a check takes.
func BenchmarkDecide(b *testing.B) {
	server := redistest.Start(b)
	options := sidecarOptions(b, server.Addr())
	limiter := newRedis(b, options, patience)
	pooled := *options
	pooled.PoolSize = 64
	client := redis.NewClient(&pooled)
	b.Cleanup(func() { _ = client.Close() })
	for _, callers := range []int{1, 16, 64} {
		b.Run(fmt.Sprint("bare EVALSHA/", callers), func(b *testing.B) {
			bare := newScript("return {1, 0, 0}")
			fromMany(b, client, callers, func(int) error {
				words := append(make([]any, scriptWords), "key")
				_, err := bare.run(b.Context(), client, words, 1)
				return err
			})
		})
		b.Run(fmt.Sprint("bare EVALSHA of a bucket/", callers), func(b *testing.B) {
			decide := newScript(decideText)
			fromMany(b, client, callers, func(caller int) error {
				check := tokenBucketOf(fmt.Sprint(caller), 1_000_000, 1_000_000, time.Second)
				made, err := planFor(&check, nil)
				if err != nil {
					return err
				}
				words := made.appendArguments(append(make([]any, scriptWords), counterOf(check), 0, 1, 1))
				_, err = decide.run(b.Context(), client, words, 1)
				return err
			})
		})
		for name, checks := range map[string]func(client string) []Check{
			"bucket": func(c string) []Check { return []Check{tokenBucketOf(c, 1_000_000, 1_000_000, time.Second)} },
			"window": func(c string) []Check { return []Check{fixedWindowOf(c, 1_000_000_000, ages)} },
			"both": func(c string) []Check {
				return []Check{tokenBucketOf(c, 1_000_000, 1_000_000, time.Second), fixedWindowOf(c, 1_000_000_000, ages)}
			},
		} {
			b.Run(fmt.Sprint(name, "/", callers), func(b *testing.B) {
				made := make([][]Check, callers)
				for i := range made {
					made[i] = checks(fmt.Sprint(i))
				}
				fromMany(b, client, callers, func(caller int) error {
					_, err := limiter.Decide(b.Context(), "shop", made[caller])
					return err
				})
			})
		}
	}
}

// fromMany has so many callers call at once, each with its own number.
func fromMany(b *testing.B, client *redis.Client, callers int, call func(caller int) error) {
	b.Helper()
	before := scriptMicros(b, client)
	var left atomic.Int64
	left.Store(int64(b.N))
	b.ReportAllocs()
	b.ResetTimer()
	var running sync.WaitGroup
	for caller := range callers {
		running.Go(func() {
			for left.Add(-1) >= 0 {
				if err := call(caller); err != nil {
					b.Error(err)
					return
				}
			}
		})
	}
	running.Wait()
	b.StopTimer()
	b.ReportMetric((scriptMicros(b, client)-before)/float64(b.N), "redis-µs/op")
}

// scriptMicros is how long Redis has run scripts, in microseconds.
func scriptMicros(b *testing.B, client *redis.Client) float64 {
	b.Helper()
	statistics, err := client.Info(b.Context(), "commandstats").Result()
	if err != nil {
		b.Fatal(err)
	}
	total := 0.0
	for line := range strings.Lines(statistics) {
		if !strings.HasPrefix(line, "cmdstat_eval") {
			continue
		}
		_, rest, _ := strings.Cut(line, "usec=")
		text, _, _ := strings.Cut(rest, ",")
		micros, err := strconv.ParseFloat(text, 64)
		if err != nil {
			b.Fatalf("read %q: %v", line, err)
		}
		total += micros
	}
	return total
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
