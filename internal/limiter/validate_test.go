// Copyright The Penstock Authors.
// SPDX-License-Identifier: Apache-2.0

package limiter

import (
	"strings"
	"testing"
	"time"

	"github.com/penstock-dev/penstock/test/redistest"
)

// TestBadChecksNameTheField holds on a store and in memory, and none is charged.
func TestBadChecksNameTheField(t *testing.T) {
	t.Parallel()
	client := clientOf(t, redistest.Start(t))
	limiters := map[string]Decider{"redis": newRedis(t, client.Options(), patience), "memory": NewMemory(nil, 0)}
	hour := time.Hour
	named := func(identity string) Check {
		check := fixedWindowOf("a", 1, hour)
		check.Identity = identity
		return check
	}
	tests := map[string]struct {
		check     Check
		wantField string
	}{
		"no limit":                   {check: Check{Identity: "a"}, wantField: "limit"},
		"no identity":                {check: named(""), wantField: "identity"},
		"identity of 65 characters":  {check: named(strings.Repeat("a", 65)), wantField: "identity"},
		"identity of 1 MiB":          {check: named(strings.Repeat("a", 1<<20)), wantField: "identity"},
		"identity with braces":       {check: named("{a}"), wantField: "identity"},
		"identity with a brace":      {check: named("a}"), wantField: "identity"},
		"identity with a colon":      {check: named("a:b"), wantField: "identity"},
		"identity with NUL":          {check: named("a\x00"), wantField: "identity"},
		"identity with a line break": {check: named("a\r\n"), wantField: "identity"},
		"identity not of ASCII":      {check: named("ä"), wantField: "identity"},
		"identity with a star":       {check: named("*"), wantField: "identity"},
		"negative cost":              {check: costing(fixedWindowOf("a", 1, hour), -1), wantField: "cost"},
		"cost above the bound":       {check: costing(fixedWindowOf("a", 1, hour), maxCost+1), wantField: "cost"},
		"too many places":            {check: costing(concurrencyOf("a", maxRequests), maxPlaces+1), wantField: "cost"},
		"no requests":                {check: fixedWindowOf("a", 0, hour), wantField: "requests"},
		"negative requests":          {check: slidingWindowCounterOf("a", -1, hour), wantField: "requests"},
		"too many requests":          {check: tokenBucketOf("a", maxRequests+1, 1, hour), wantField: "requests"},
		"no places":                  {check: concurrencyOf("a", 0), wantField: "requests"},
		"too many in a log":          {check: slidingWindowLogOf("a", maxLogged+1, hour), wantField: "requests"},
		"no window":                  {check: slidingWindowLogOf("a", 1, 0), wantField: "window"},
		"negative window":            {check: fixedWindowOf("a", 1, -hour), wantField: "window"},
		"window over 400 days":       {check: leakyBucketOf("a", 1, 1, ages+time.Microsecond), wantField: "window"},
		"no burst":                   {check: tokenBucketOf("a", 1, 0, hour), wantField: "burst"},
		"negative burst":             {check: leakyBucketOf("a", 1, -1, hour), wantField: "burst"},
		"too large a burst":          {check: tokenBucketOf("a", maxRequests, maxRequests+1, hour), wantField: "burst"},
		"burst of over 10 years":     {check: tokenBucketOf("a", 1, 10, ages), wantField: "burst"},
	}
	for name, tc := range tests {
		for store, limiter := range limiters {
			_, err := limiter.Decide(t.Context(), "shop", []Check{fixedWindowOf("other", 1, hour), tc.check})
			if err == nil {
				t.Errorf("%s, %s: no error", name, store)
				continue
			}
			requireField(t, err, tc.wantField)
			if len(err.Error()) > 200 {
				t.Errorf("%s, %s: an error of %d bytes", name, store, len(err.Error()))
			}
		}
	}
	if size, err := client.DBSize(t.Context()).Result(); err != nil || size != 0 {
		t.Errorf("%d keys were written, %v, want none", size, err)
	}
	if counters, _ := kept(limiters["memory"].(*Memory)); counters != 0 {
		t.Errorf("%d counters were made, want none", counters)
	}
}
