// Copyright The Penstock Authors.
// SPDX-License-Identifier: Apache-2.0

package limiter

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/penstock-dev/penstock/internal/ruleset"
)

// named is a check on a fixed window of that name, of which some are used up.
func named(policy, name string, requests int64, window time.Duration) Check {
	check := checkOf("a", ruleset.Limit{
		Name: name, Algorithm: ruleset.FixedWindow, Requests: requests, Burst: requests, WindowMicros: window.Microseconds(),
	})
	check.Policy, check.Limit.Key = policy, policy+name
	return check
}

func shadow(check Check) Check {
	check.Shadow = true
	return check
}

func drawn(check Check) Check {
	check.Shadow, check.Drawn = true, true
	return check
}

func TestTheSpeakingLimitComesFirst(t *testing.T) {
	t.Parallel()
	hour, day := time.Hour, 24*time.Hour
	tests := map[string]struct {
		used, asked []Check
		want        []string
		wantRetry   time.Duration
		wantNever   bool
	}{
		"fewest left": {
			asked: []Check{named("p", "many", 9, day), named("p", "few", 3, hour)}, want: []string{"few", "many"},
		},
		"fewest left of this cost": {
			asked: []Check{costing(named("p", "dear", 9, day), 4), named("p", "cheap", 3, hour)}, want: []string{"dear", "cheap"},
		},
		"then the longest reset": {
			asked: []Check{named("p", "hour", 3, hour), named("p", "day", 3, day)}, want: []string{"day", "hour"},
		},
		"then the name": {
			asked: []Check{named("q", "a", 3, day), named("p", "b", 3, day), named("p", "a", 3, day)}, want: []string{"a", "b", "a"},
		},
		"refusing before admitting": {
			used:  []Check{named("p", "full", 1, hour)},
			asked: []Check{named("p", "free", 1, day), named("p", "full", 1, hour)}, want: []string{"full", "free"}, wantRetry: hour,
		},
		"the longest wait of the refusing": {
			used:  []Check{named("p", "hour", 1, hour), named("p", "day", 1, day)},
			asked: []Check{named("p", "hour", 1, hour), named("p", "day", 1, day)}, want: []string{"day", "hour"}, wantRetry: day,
		},
		"never before any wait": {
			used:  []Check{named("p", "day", 1, day)},
			asked: []Check{named("p", "day", 1, day), costing(named("p", "small", 1, hour), 2)}, want: []string{"small", "day"}, wantNever: true,
		},
		"a shadow last": {
			asked: []Check{shadow(named("p", "shadow", 1, day)), named("p", "free", 9, hour)}, want: []string{"free", "shadow"},
		},
		"a drawn shadow that admits, as if it were none": {
			asked: []Check{drawn(named("p", "few", 3, hour)), shadow(named("p", "shadow", 1, day)), named("p", "many", 9, day)}, want: []string{"few", "many", "shadow"},
		},
		"a drawn shadow that would refuse, of an admitted request": {
			used:  []Check{named("p", "full", 1, hour)},
			asked: []Check{named("p", "free", 9, day), drawn(named("p", "full", 1, hour))}, want: []string{"full", "free"},
		},
		"a drawn shadow never before what refuses": {
			used:  []Check{named("p", "full", 1, hour), named("p", "drawn", 1, day)},
			asked: []Check{named("p", "free", 9, day), drawn(named("p", "drawn", 1, day)), named("p", "full", 1, hour)}, want: []string{"full", "drawn", "free"}, wantRetry: hour,
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			limiter := NewMemory(func() time.Time { return time.UnixMicro(present - present%day.Microseconds()) }, 0)
			decide(t, limiter, tc.used...)
			got := decide(t, limiter, tc.asked...)
			var names []string
			for _, state := range got.Limits {
				names = append(names, state.Limit)
			}
			if diff := cmp.Diff(tc.want, names); diff != "" {
				t.Errorf("order (-want +got):\n%s", diff)
			}
			if got.RetryAfter != tc.wantRetry || got.Never != tc.wantNever || got.Allowed != (tc.wantRetry == 0 && !tc.wantNever) {
				t.Errorf("decision %+v, want RetryAfter %v, never %t", got, tc.wantRetry, tc.wantNever)
			}
		})
	}
}
