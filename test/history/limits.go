// Copyright The Penstock Authors.
// SPDX-License-Identifier: Apache-2.0

package history

import (
	"crypto/sha256"
	"encoding/base64"
	"maps"
	"slices"
	"time"

	"github.com/penstock-dev/penstock/internal/limiter"
	"github.com/penstock-dev/penstock/internal/ruleset"
)

// Limit is one that workers share.
type Limit struct {
	*ruleset.Limit
	// Shadow limits are counted and never refuse a request.
	Shadow bool
	// Leased limits are spent from leases in memory. They may refuse what the model
	// admits, by what of the leases is not spent, and admit so many requests more than
	// the model: what leases can be outstanding.
	Leased bool
	Bound  int64
	// Processes is over how many a leased limit is shared.
	Processes int64
}

// Limits are the limits of a history by name.
type Limits map[string]Limit

// Names are the limits' names in order.
func (l Limits) Names() []string { return slices.Sorted(maps.Keys(l)) }

func (l Limits) add(name string, limit ruleset.Limit) {
	key := sha256.Sum256([]byte(name))
	limit.Name, limit.Key = name, base64.RawURLEncoding.EncodeToString(key[:6])
	if limit.Burst == 0 {
		limit.Burst = limit.Requests
	}
	l[name] = Limit{Limit: &limit}
}

// ages is longer than any history.
const ages = 300 * 24 * time.Hour

// Standard are limits of each algorithm: quick ones, whose rates come out even
// nowhere and which admit anew all the time, and slow ones, which fill up once.
func Standard() Limits {
	limits := Limits{}
	for name, algorithm := range map[string]ruleset.Algorithm{
		"bucket": ruleset.TokenBucket, "queue": ruleset.LeakyBucket, "window": ruleset.FixedWindow,
		"counter": ruleset.SlidingWindowCounter, "log": ruleset.SlidingWindowLog,
	} {
		limits.add(name+"/quick", ruleset.Limit{Algorithm: algorithm, Requests: 5, WindowMicros: 17_389})
		limits.add(name+"/medium", ruleset.Limit{Algorithm: algorithm, Requests: 97, WindowMicros: 333_333})
		limits.add(name+"/slow", ruleset.Limit{Algorithm: algorithm, Requests: 401, WindowMicros: ages.Microseconds()})
	}
	limits.add("window/calendar", ruleset.Limit{
		Algorithm: ruleset.FixedWindow, Requests: 211, Calendar: &ruleset.Calendar{Period: ruleset.PeriodDay, TimeZone: "Europe/Berlin"},
	})
	limits.add("places/few", ruleset.Limit{Algorithm: ruleset.Concurrency, Requests: 5})
	limits.add("places/many", ruleset.Limit{Algorithm: ruleset.Concurrency, Requests: 17})
	limits.add("shadow/window", ruleset.Limit{Algorithm: ruleset.FixedWindow, Requests: 31, WindowMicros: 100_000})
	shadow := limits["shadow/window"]
	shadow.Shadow = true
	limits["shadow/window"] = shadow
	return limits
}

// mostLeasedCost is the largest cost of requests to leased limits.
const mostLeasedCost = 3

// leasesPerProcess is into how many leases a process's even share of a limit is cut.
const leasesPerProcess = 4

// LeasedBy are limits that so many processes spend from leases, in windows of a
// second, ten and sixty.
func LeasedBy(processes int) Limits {
	limits := Limits{}
	for name, algorithm := range map[string]ruleset.Algorithm{
		"bucket": ruleset.TokenBucket, "window": ruleset.FixedWindow,
		"counter": ruleset.SlidingWindowCounter, "log": ruleset.SlidingWindowLog,
	} {
		limits.add(name+"/1s", ruleset.Limit{Algorithm: algorithm, Requests: 320, WindowMicros: 1_000_000})
		limits.add(name+"/10s", ruleset.Limit{Algorithm: algorithm, Requests: 640, WindowMicros: 10_000_000})
		limits.add(name+"/60s", ruleset.Limit{Algorithm: algorithm, Requests: 640, WindowMicros: 60_000_000})
	}
	for name, limit := range limits {
		limit.Leased, limit.Processes = true, int64(processes)
		// A process takes a new lease when the one that it has does not suffice.
		limit.Bound = limit.Processes * (limit.Requests/(leasesPerProcess*limit.Processes) + mostLeasedCost - 1)
		limits[name] = limit
	}
	return limits
}

// IdentityOf is a client's identity in the store.
func IdentityOf(client string) string {
	identity := sha256.Sum256([]byte(client))
	return base64.RawURLEncoding.EncodeToString(identity[:16])
}

func (l Limit) checkOf(client string, cost int64) limiter.Check {
	return limiter.Check{
		Kind: "RateLimitPolicy", Policy: "policy", Rule: "rule", Limit: l.Limit, Identity: IdentityOf(client), Cost: cost,
		Shadow: l.Shadow, Settled: true, Leased: l.Leased, LivePods: l.Processes,
	}
}
