// Copyright The Penstock Authors.
// SPDX-License-Identifier: Apache-2.0

package faults

import (
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"time"

	"github.com/penstock-dev/penstock/internal/limiter"
	"github.com/penstock-dev/penstock/internal/ruleset"
)

const (
	// livePods is over how many pods a limit is shared by Local. There are not as
	// many here: a share must be small enough for a short fault to use up.
	livePods = 500
	// loosenessMilli is that of every rule, in thousandths.
	loosenessMilli = 1500
	// clients is how many clients a rule counts apart.
	clients = 8
)

// counter is one limit of one client, and what the load does to it.
type counter struct {
	name     string
	requests int64
	// callers is how many callers send requests that meet it.
	callers int
}

// counters are what the load meets: a limit that all share, one that each client
// has for itself, and one that is used up soon.
func counters() []counter {
	all := []counter{{name: "shared", requests: 100_000, callers: 32}, {name: scarce, requests: 50, callers: 8}}
	for client := range clients {
		all = append(all, counter{name: fmt.Sprint("client-", client), requests: 10_000, callers: 3})
	}
	return all
}

// scarce is the counter of which the store refuses most requests.
const scarce = "scarce"

// share is how many requests Local admits, while no window ends.
func (c counter) share() int64 {
	return max(1, c.requests*loosenessMilli/1000/livePods)
}

func (c counter) check(mode ruleset.OnStoreFailure) limiter.Check {
	name := sha256.Sum256([]byte(c.name))
	window := steadyWindow(time.Now())
	return limiter.Check{
		Kind: "RateLimitPolicy", Policy: "policy", Rule: c.name, Cost: 1,
		Limit: &ruleset.Limit{
			Name: "limit", Key: base64.RawURLEncoding.EncodeToString(name[16:22]), Algorithm: ruleset.FixedWindow,
			Requests: c.requests, Burst: c.requests, WindowMicros: window.Microseconds(),
		},
		Identity:       base64.RawURLEncoding.EncodeToString(name[:16]),
		OnStoreFailure: mode, LoosenessMilli: loosenessMilli, LivePods: livePods,
	}
}

// steadyWindow is a long window of which neither end is within two days: no test
// sees it end, not even one in which the clock steps by a day.
func steadyWindow(now time.Time) time.Duration {
	const day = 24 * time.Hour
	for days := time.Duration(100); ; days++ {
		window := days * day
		if passed := now.UnixMicro() % window.Microseconds(); passed > (2*day).Microseconds() &&
			passed < (window-2*day).Microseconds() {
			return window
		}
	}
}

// counts are the decisions on one counter.
type counts struct {
	// StoreAdmitted and StoreRefused are those of the store, or of what it refused
	// lately; AloneAdmitted and AloneRefused those made without it.
	StoreAdmitted, StoreRefused, AloneAdmitted, AloneRefused int64
	// Undecided are requests of which the store was asked and gave no verdict.
	Undecided int64
}

func (c counts) store() int64 { return c.StoreAdmitted + c.StoreRefused }
func (c counts) alone() int64 { return c.AloneAdmitted + c.AloneRefused }
