// Copyright The Penstock Authors.
// SPDX-License-Identifier: Apache-2.0

package limiter

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/penstock-dev/penstock/test/model"
	"github.com/penstock-dev/penstock/test/redistest"
)

// TestAFullLogIsReadByHalving fills the largest log and lets any number of its
// entries wear off: the model agrees, and no call reads more than a few entries.
func TestAFullLogIsReadByHalving(t *testing.T) {
	t.Parallel()
	client := clientOf(t, redistest.Start(t))
	limiter := newClockedRedis(t, client)
	// A reading of the newest, and at most two for each doubling up to the size.
	const mostReadings = 1 + 2*14
	for _, worn := range []int64{0, 1, 2, 3, 5000, 8192, maxLogged - 2, maxLogged - 1, maxLogged} {
		t.Run(fmt.Sprint(worn), func(t *testing.T) {
			check := slidingWindowLogOf(fmt.Sprint(worn), maxLogged, time.Second)
			reference, now := model.New(), present
			for _, cost := range []int64{worn, maxLogged - worn} {
				requireModel(t, t.Fatalf, limiter, reference, now, []Check{costing(check, cost)})
				now += 500_000
			}
			before := readings(t, client)
			requireModel(t, t.Fatalf, limiter, reference, now, []Check{check})
			if read := readings(t, client) - before; read > mostReadings {
				t.Errorf("%d entries were read, want at most %d", read, mostReadings)
			}
			if length, err := client.LLen(t.Context(), counterOf(check)).Result(); err != nil || length > maxLogged {
				t.Errorf("the log has %d entries, %v, want at most %d", length, err, maxLogged)
			}
		})
	}
}

// readings is how many entries of lists were read so far.
func readings(t *testing.T, client *redis.Client) int {
	t.Helper()
	text, err := client.Info(t.Context(), "commandstats").Result()
	if err != nil {
		t.Fatal(err)
	}
	var calls int
	for line := range strings.Lines(text) {
		if _, err := fmt.Sscanf(line, "cmdstat_lindex:calls=%d,", &calls); err == nil {
			return calls
		}
	}
	return 0
}

// TestALogIsOneListOfWhatCounts drops what wore off with the next charge.
func TestALogIsOneListOfWhatCounts(t *testing.T) {
	t.Parallel()
	client := clientOf(t, redistest.Start(t))
	limiter := newClockedRedis(t, client)
	check := slidingWindowLogOf("a", 9, time.Second)
	for i, wantLength := range []int64{1, 2, 3, 3, 3, 1} {
		if i == 5 {
			limiter.set(t, present+10_000_000)
		} else {
			limiter.set(t, present+int64(i)*400_000)
		}
		decide(t, limiter, check)
		if length, err := client.LLen(t.Context(), counterOf(check)).Result(); err != nil || length != wantLength {
			t.Errorf("after request %d the log has %d entries, %v, want %d", i+1, length, err, wantLength)
		}
	}
}

func TestLogsOfTooManyRequestsAreErrors(t *testing.T) {
	t.Parallel()
	if _, err := NewMemory(nil, 0).Decide(t.Context(), "shop", []Check{slidingWindowLogOf("a", maxLogged+1, time.Second)}); err == nil {
		t.Error("a log of 10001 requests was decided on, want an error")
	}
}
