// Copyright The Penstock Authors.
// SPDX-License-Identifier: Apache-2.0

package limiter

import (
	"context"
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/penstock-dev/penstock/internal/redisconn"
	"github.com/penstock-dev/penstock/internal/ruleset"
	"github.com/penstock-dev/penstock/test/redistest"
)

// steppedTime goes before a script's text and answers TIME from the last arguments,
// which steppedConnection adds. Only tests have it: the product's script takes no time from anyone. Keys then live
// for an hour, since the time that really passes means nothing.
const steppedTime = `
local server = redis
local function stepped(run)
  return function(name, ...)
    if name == 'TIME' then
      return {ARGV[#ARGV - 1], ARGV[#ARGV]}
    end
    if name == 'PSETEX' then
      local key, _, text = ...
      return run(name, key, 3600000, text)
    end
    if name == 'PEXPIRE' then
      local key = ...
      return run(name, key, 3600000)
    end
    return run(name, ...)
  end
end
local redis = setmetatable({call = stepped(server.call), pcall = stepped(server.pcall)}, {__index = server})
`

// clocked is a limiter whose clock the test sets, in microseconds.
type clocked interface {
	Decider
	set(t *testing.T, now int64)
	// forget starts a trace: what was counted before does not matter any more.
	forget()
	// book corrects at once.
	book() book
}

type clockedRedis struct {
	*Redis
	// at is the time that was set; this machine's clock shows half a day more or less.
	at *int64
}

func (c *clockedRedis) set(_ *testing.T, now int64) { *c.at = now }

func (c *clockedRedis) book() book { return promptBook{c.Redis} }

// promptBook sends corrections and waits until they are made.
type promptBook struct{ *Redis }

func (b promptBook) correct(namespace string, corrections []correction) {
	before := b.CorrectionsLost()
	for _, c := range corrections {
		c.namespace, c.name = namespace, b.prefix.Counter(namespace, c.identity, c.limit)
		b.sendCorrections(c)
	}
	if lost := b.CorrectionsLost() - before; lost > 0 {
		panic(fmt.Sprint(lost, " corrections were lost"))
	}
}

// abandon is what a process does that ends: nobody renews its leases.
func (r *Receipt) abandon() {
	if r != nil && r.renewal != nil {
		r.renewal.Stop()
	}
}

// steppedConnection tells scripts the time that the test has set.
type steppedConnection struct {
	connection
	at *int64
}

func (c steppedConnection) Process(ctx context.Context, command redis.Cmder) error {
	sent, ok := command.(onceCommand)
	if !ok {
		return c.connection.Process(ctx, command)
	}
	arguments := append(slices.Clone(sent.Args()), *c.at/1e6, *c.at%1e6)
	stepped := onceCommand{IntSliceCmd: redis.NewIntSliceCmd(ctx, arguments...)}
	err := c.connection.Process(ctx, stepped)
	sent.SetVal(stepped.Val())
	return err
}

// forget does nothing: each trace has keys of its own.
func (c *clockedRedis) forget() {}

type clockedMemory struct {
	*Memory
	at *int64
}

func (c *clockedMemory) set(_ *testing.T, now int64) { *c.at = now }

func (c *clockedMemory) book() book { return c.Memory }

func (c *clockedMemory) forget() { c.Memory = newClockedMemory(c.at).Memory }

func newClockedMemory(at *int64) *clockedMemory {
	return &clockedMemory{Memory: NewMemory(func() time.Time { return time.UnixMicro(*at) }, 0), at: at}
}

// clockedLimiters are the script on a real Redis and the memory limiter.
func clockedLimiters(t *testing.T) map[string]clocked {
	t.Helper()
	client := clientOf(t, redistest.Start(t))
	at := new(int64)
	return map[string]clocked{
		"redis":  newClockedRedis(t, client),
		"memory": newClockedMemory(at),
	}
}

func newClockedRedis(t *testing.T, client *redis.Client) *clockedRedis {
	t.Helper()
	return steppedBy(t, newRedis(t, client.Options(), patience))
}

// newClocked is a limiter that connects as the settings say.
func newClocked(t *testing.T, settings redisconn.Settings) *clockedRedis {
	t.Helper()
	limiter, err := Connect(settings)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(limiter.Close)
	limiter.Await(t.Context())
	return steppedBy(t, limiter)
}

// steppedBy has the test set the limiter's clock.
func steppedBy(t *testing.T, stepped *Redis) *clockedRedis {
	t.Helper()
	at := new(int64)
	for _, n := range stepped.layout.Load().all() {
		n.dispatcher.scripts = scripts{decide: newScript(steppedTime + decideText), correct: newScript(steppedTime + correctText)}
		awaitNode(t, n)
		n.dispatcher.mu.Lock()
		for i, idle := range n.dispatcher.idle {
			n.dispatcher.idle[i] = steppedConnection{connection: idle, at: at}
		}
		n.dispatcher.mu.Unlock()
	}
	// Refusals are remembered by the time that really passes.
	stepped.remembered = nil
	stepped.now = func() time.Time {
		off := 12 * time.Hour
		if *at%2 == 0 {
			off = -off
		}
		return time.UnixMicro(*at).Add(off)
	}
	return &clockedRedis{Redis: stepped, at: at}
}

// patience is a deadline for tests whose subject is not the deadline.
const patience = 10 * time.Second

// clientOf returns a client as the sidecar has one, but patient. When the test
// ends, every key must have an expiry.
func clientOf(t *testing.T, server *redistest.Server) *redis.Client {
	t.Helper()
	client := server.Client(t)
	t.Cleanup(func() { redistest.RequireExpiries(t, client, "*") })
	return client
}

// tokenBucketOf is a check of cost 1 on a token bucket for a client.
func tokenBucketOf(client string, requests, burst int64, window time.Duration) Check {
	return checkOf(client, ruleset.Limit{
		Name: "bucket", Algorithm: ruleset.TokenBucket, Requests: requests, Burst: burst, WindowMicros: window.Microseconds(),
	})
}

// leakyBucketOf is a check of cost 1 on a leaky bucket for a client.
func leakyBucketOf(client string, requests, burst int64, window time.Duration) Check {
	return checkOf(client, ruleset.Limit{
		Name: "queue", Algorithm: ruleset.LeakyBucket, Requests: requests, Burst: burst, WindowMicros: window.Microseconds(),
	})
}

// concurrencyOf is a check of cost 1 on so many requests at once of a client.
func concurrencyOf(client string, requests int64) Check {
	return checkOf(client, ruleset.Limit{Name: "places", Algorithm: ruleset.Concurrency, Requests: requests, Burst: requests})
}

// fixedWindowOf is a check of cost 1 on a fixed window for a client.
func fixedWindowOf(client string, requests int64, window time.Duration) Check {
	return checkOf(client, ruleset.Limit{
		Name: "window", Algorithm: ruleset.FixedWindow, Requests: requests, Burst: requests, WindowMicros: window.Microseconds(),
	})
}

// slidingWindowCounterOf is a check of cost 1 on a sliding window counter.
func slidingWindowCounterOf(client string, requests int64, window time.Duration) Check {
	return checkOf(client, ruleset.Limit{
		Name: "counter", Algorithm: ruleset.SlidingWindowCounter, Requests: requests, Burst: requests, WindowMicros: window.Microseconds(),
	})
}

// slidingWindowLogOf is a check of cost 1 on a sliding window log.
func slidingWindowLogOf(client string, requests int64, window time.Duration) Check {
	return checkOf(client, ruleset.Limit{
		Name: "log", Algorithm: ruleset.SlidingWindowLog, Requests: requests, Burst: requests, WindowMicros: window.Microseconds(),
	})
}

// calendarOfClient is a check of cost 1 on a window of the calendar.
func calendarOfClient(client string, requests int64, wanted ruleset.Calendar) Check {
	return checkOf(client, ruleset.Limit{
		Name: "calendar", Algorithm: ruleset.FixedWindow, Requests: requests, Burst: requests, Calendar: &wanted,
	})
}

// checksOf are checks of cost 1 on a limit of each algorithm for a client. Only
// buckets have a burst.
func checksOf(client string, requests, burst int64, window time.Duration) []Check {
	return []Check{
		tokenBucketOf(client, requests, burst, window),
		fixedWindowOf(client, requests, window),
		slidingWindowCounterOf(client, requests, window),
		slidingWindowLogOf(client, min(requests, maxLogged), window),
		leakyBucketOf(client, requests, burst, window),
		// A refusal brings back a thousand places at once, of more the others later.
		concurrencyOf(client, min(requests, 1000)),
		calendarOfClient(client, requests, ruleset.Calendar{Period: ruleset.PeriodDay, TimeZone: "America/Havana"}),
		calendarOfClient(client, requests, ruleset.Calendar{Period: ruleset.PeriodMonth, TimeZone: "Africa/Cairo"}),
	}
}

// checkOf names the counter as the compiler does: by what a limit is, not by its
// numbers, so edits of the numbers keep counts.
func checkOf(client string, limit ruleset.Limit) Check {
	name := sha256.Sum256(fmt.Append(nil, limit.Name, limit.Algorithm, limit.WindowMicros))
	if limit.Calendar != nil {
		name = sha256.Sum256(fmt.Append(nil, limit.Name, limit.Algorithm, *limit.Calendar))
	}
	limit.Key = base64.RawURLEncoding.EncodeToString(name[:6])
	identity := sha256.Sum256([]byte(client))
	return Check{
		Kind: "RateLimitPolicy", Policy: "policy", Rule: "rule", Limit: &limit, Cost: 1,
		Identity: base64.RawURLEncoding.EncodeToString(identity[:16]),
	}
}

func costing(check Check, cost int64) Check {
	check.Cost = cost
	return check
}

func decide(t *testing.T, limiter Decider, checks ...Check) Decision {
	t.Helper()
	decision, err := limiter.Decide(t.Context(), "shop", checks)
	if err != nil {
		t.Fatalf("decide: %v", err)
	}
	return decision
}
