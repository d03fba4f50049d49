// Copyright The Penstock Authors.
// SPDX-License-Identifier: Apache-2.0

package limiter

import (
	"flag"
	"fmt"
	"sync"
	"testing"

	"github.com/redis/go-redis/v9"
	"pgregory.net/rapid"

	"github.com/penstock-dev/penstock/internal/embedded"
	"github.com/penstock-dev/penstock/internal/redisconn"
	"github.com/penstock-dev/penstock/internal/ruleset"
	"github.com/penstock-dev/penstock/test/redistest"
)

// storeKinds are all ways to keep counts, and algorithms all ways to count.
var (
	storeKinds = []string{
		"standalone", "TLS", "client certificate", "ACL", "unix socket", "database 1", "Sentinel", "Cluster", "memory", "embedded",
	}
	algorithms = []ruleset.Algorithm{
		ruleset.TokenBucket, ruleset.LeakyBucket, ruleset.FixedWindow, ruleset.SlidingWindowCounter,
		ruleset.SlidingWindowLog, ruleset.Concurrency,
	}
)

// settingsOf say how to connect to a fresh store of a kind. When the test ends, every
// key there must have an expiry.
func settingsOf(t *testing.T, kind string) redisconn.Settings {
	t.Helper()
	settings := redisconn.Settings{DialTimeout: patience, OperationTimeout: patience}
	var server *redistest.Server
	switch kind {
	case "TLS":
		server = redistest.Start(t, redistest.WithTLS())
		settings.TLS = &redisconn.TLS{CA: server.CA(), ServerName: server.ServerName()}
	case "client certificate":
		server = redistest.Start(t, redistest.WithClientCertificates())
		certificate, key := server.ClientCertificate(t, "app")
		settings.TLS = &redisconn.TLS{CA: server.CA(), ServerName: server.ServerName(), Certificate: certificate, Key: key}
	case "ACL":
		// What docs/operating.md says that counting takes, and no more.
		server = redistest.Start(t, redistest.WithUsers("app on >secret resetchannels ~penstock:n:* "+countingRights))
		settings.Username, settings.Password = "app", "secret"
	case "unix socket":
		server = redistest.Start(t, redistest.WithSocket())
		settings.Addresses = []string{server.Socket()}
	case "Sentinel":
		sentinel := redistest.StartSentinel(t)
		settings.Mode, settings.MasterName, settings.Addresses = redisconn.Sentinel, sentinel.MasterName(), sentinel.Addrs()
		clientOf(t, sentinel.Master)
		return settings
	case "Cluster":
		cluster := redistest.StartCluster(t)
		settings.Mode, settings.Addresses = redisconn.Cluster, cluster.Addrs()
		for _, node := range cluster.Nodes {
			clientOf(t, node)
		}
		return settings
	case "embedded":
		store, err := embedded.Start("127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(store.Close)
		settings.Addresses = []string{store.Addr()}
		client := redis.NewClient(&redis.Options{Addr: store.Addr(), Protocol: 2})
		t.Cleanup(func() { _ = client.Close() })
		t.Cleanup(func() { redistest.RequireExpiries(t, client, "*") })
		return settings
	default:
		server = redistest.Start(t)
	}
	if settings.Addresses == nil {
		settings.Addresses = []string{server.Addr()}
	}
	client := clientOf(t, server)
	if kind == "database 1" {
		settings.Database = 1
		elsewhere := *client.Options()
		elsewhere.DB = 1
		client = redis.NewClient(&elsewhere)
		t.Cleanup(func() { _ = client.Close() })
		t.Cleanup(func() { redistest.RequireExpiries(t, client, "*") })
	}
	return settings
}

// How long TestStoresAgreeWithTheModel is.
var (
	leastSteps     = flag.Int("limiter.steps", 4, "the least steps of a trace in TestStoresAgreeWithTheModel")
	leastDecisions = flag.Int("limiter.decisions", 0, "the least decisions of a line of TestStoresAgreeWithTheModel")
)

// TestStoresAgreeWithTheModel runs every algorithm on every kind of store beside the
// model, and prints a line for each. -rapid.checks says how many traces each way.
func TestStoresAgreeWithTheModel(t *testing.T) {
	t.Parallel()
	var mu sync.Mutex
	lines := map[string]string{}
	t.Run("on", func(t *testing.T) {
		for _, kind := range storeKinds {
			t.Run(kind, func(t *testing.T) {
				t.Parallel()
				limiter := steppedOn(t, kind)
				for _, algorithm := range algorithms {
					t.Run(string(algorithm), func(t *testing.T) {
						own := limiter
						if kind == "embedded" {
							// It works in this process: a store for each algorithm uses all cores.
							t.Parallel()
							own = steppedOn(t, kind)
						}
						line := compareOn(t, own, kind, algorithm)
						mu.Lock()
						defer mu.Unlock()
						lines[kind+"/"+string(algorithm)] = line
					})
				}
			})
		}
	})
	for _, kind := range storeKinds {
		for _, algorithm := range algorithms {
			line, ran := lines[kind+"/"+string(algorithm)]
			if !ran {
				t.Errorf("%s, %s: did not run", kind, algorithm)
			}
			fmt.Println(line)
		}
	}
}

// steppedOn is a limiter on a fresh store of a kind, whose clock the test sets.
func steppedOn(t *testing.T, kind string) clocked {
	t.Helper()
	if kind == "memory" {
		return newClockedMemory(new(int64))
	}
	return newClocked(t, settingsOf(t, kind))
}

// compareOn returns a line of the table.
func compareOn(t *testing.T, limiter clocked, kind string, algorithm ruleset.Algorithm) string {
	t.Helper()
	total := comparison{}
	mismatches := 0
	// The clock of memory never steps back: what is unused is forgotten for good.
	for _, backwards := range []bool{false, kind != "memory"} {
		c := comparison{
			name: kind + string(algorithm), limiter: limiter, backwards: backwards, steps: rapid.IntRange(*leastSteps, *leastSteps+*leastSteps/2),
			draw: func(r *rapid.T, client string) []Check {
				return []Check{drawCheck(r, client, 0, func(a ruleset.Algorithm) bool { return a == algorithm })}
			},
		}
		direction := "forward"
		if backwards {
			direction = "and back"
		}
		if !t.Run(direction, c.run) {
			mismatches++
		}
		total.traces, total.decisions = total.traces+c.traces, total.decisions+c.decisions
	}
	if total.decisions < *leastDecisions {
		t.Errorf("%d decisions, want at least %d", total.decisions, *leastDecisions)
	}
	return fmt.Sprintf("%-18s  %-20s  %5d traces  %6d decisions  %d mismatches", kind, algorithm, total.traces, total.decisions, mismatches)
}

// countingRights are what it takes to count: docs/operating.md says the same.
const countingRights = "-@all +time +evalsha +eval +mget +get +psetex +del +pexpire +lindex +llen +ltrim +rpush +lrem +zadd +zcount +zrem +zrangebyscore +zremrangebyscore +ping +select +client|setname +hello"
