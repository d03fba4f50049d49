// Copyright The Penstock Authors.
// SPDX-License-Identifier: Apache-2.0

package limiter

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/penstock-dev/penstock/internal/redisconn"
	"github.com/penstock-dev/penstock/test/redistest"
)

// sidecarOptions are how sidecars connect, with patience in making connections.
func sidecarOptions(t testing.TB, addr string) *redis.Options {
	t.Helper()
	options, err := redisconn.DecidingOptions(redisconn.Settings{Addresses: []string{addr}, DialTimeout: patience})
	if err != nil {
		t.Fatal(err)
	}
	return options
}

// calls is how often a command was called.
func calls(t *testing.T, client *redis.Client, command string) int {
	t.Helper()
	statistics, err := client.Info(t.Context(), "commandstats").Result()
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(statistics) {
		if rest, found := strings.CutPrefix(line, "cmdstat_"+command+":calls="); found {
			text, _, _ := strings.Cut(rest, ",")
			count, err := strconv.Atoi(text)
			if err != nil {
				t.Fatalf("read %q: %v", line, err)
			}
			return count
		}
	}
	return 0
}

func TestADecisionIsOneCall(t *testing.T) {
	t.Parallel()
	client := clientOf(t, redistest.Start(t))
	limiter := newRedis(t, client.Options(), patience)
	checks := []Check{tokenBucketOf("a", 1, 100, ages/100), fixedWindowOf("a", 100, ages), fixedWindowOf("b", 100, ages)}
	for range 10 {
		decide(t, limiter, checks...)
	}
	// The first EVALSHA finds no script and is followed by one EVAL.
	if sha, text := calls(t, client, "evalsha"), calls(t, client, "eval"); sha != 10 || text != 1 {
		t.Errorf("10 decisions took %d EVALSHA and %d EVAL, want 10 and 1", sha, text)
	}
}

func TestAForgottenScriptIsSentAgain(t *testing.T) {
	t.Parallel()
	client := clientOf(t, redistest.Start(t))
	limiter := newRedis(t, client.Options(), patience)
	check := fixedWindowOf("a", 9, ages)
	for want := int64(8); want > 4; want-- {
		if err := client.ScriptFlush(t.Context()).Err(); err != nil {
			t.Fatal(err)
		}
		if got := decide(t, limiter, check); got.Limits[0].Remaining != want {
			t.Errorf("%d left, want %d: charged once", got.Limits[0].Remaining, want)
		}
	}
}

func TestALostReplyIsNotAskedForAgain(t *testing.T) {
	t.Parallel()
	server := redistest.Start(t)
	direct := newRedis(t, clientOf(t, server).Options(), patience)
	between := startRelay(t, server.Addr())
	cluster := redis.NewClusterClient(&redis.ClusterOptions{
		Addrs: []string{between.listener.Addr().String()}, MaxRetries: -1, Protocol: 2,
		ClusterSlots: oneNode(between.listener.Addr().String()),
	})
	t.Cleanup(func() { _ = cluster.Close() })
	through := newRedis(t, sidecarOptions(t, between.listener.Addr().String()), patience)
	ways := map[string]func(Check) error{
		"standalone": func(check Check) error {
			_, err := through.Decide(t.Context(), "shop", []Check{check})
			return err
		},
		"cluster": func(check Check) error {
			made, err := planFor(&check, nil)
			if err != nil {
				return err
			}
			words := append(make([]any, scriptWords), counterOf(check), 0, 1, 1)
			_, err = newScript(decideText).run(t.Context(), cluster, made.appendArguments(words), 1)
			return err
		},
	}
	for name, decideThrough := range ways {
		for cut := range int64(4) {
			check := fixedWindowOf(fmt.Sprint(name, cut), 9, ages)
			if err := decideThrough(check); err != nil {
				t.Fatal(err)
			}
			awaitConnections(t, through)
			between.cutting.Store(cut)
			err := decideThrough(check)
			if err == nil || ErrorKind(err) != KindConnection {
				t.Errorf("%s, reply cut after %d bytes: error %v, want one of kind connection", name, cut, err)
			}
			if left := decide(t, direct, costing(check, 0)).Limits[0].Remaining; left != 7 {
				t.Errorf("%s, reply cut after %d bytes: %d left, want 7: charged once", name, cut, left)
			}
		}
	}
}

// oneNode is a cluster of one node that is reached through an address.
func oneNode(addr string) func(context.Context) ([]redis.ClusterSlot, error) {
	return func(context.Context) ([]redis.ClusterSlot, error) {
		return []redis.ClusterSlot{{Start: 0, End: 16383, Nodes: []redis.ClusterNode{{Addr: addr}}}}, nil
	}
}

func TestADeadlineFiresWhenRedisHangs(t *testing.T) {
	t.Parallel()
	server := redistest.Start(t)
	const deadline = 25 * time.Millisecond
	limiter := newRedis(t, sidecarOptions(t, server.Addr()), deadline)
	warm(t, limiter)
	server.Pause()
	defer server.Resume()
	began := time.Now()
	_, err := limiter.Decide(t.Context(), "shop", []Check{fixedWindowOf("a", 9, ages)})
	if took := time.Since(began); took < deadline-time.Millisecond || took > 500*time.Millisecond || ErrorKind(err) != KindTimeout {
		t.Errorf("ended after %v with %v, want a timeout after %v", took, err, deadline)
	}
}

// warm decides until the client has a connection and Redis has the script.
func warm(t *testing.T, limiter *Redis) {
	t.Helper()
	for range 100 {
		if _, err := limiter.Decide(t.Context(), "shop", []Check{fixedWindowOf("warm", 1, ages)}); err == nil {
			return
		}
	}
	t.Fatal("no decision in 100 attempts")
}

// TestALateReplyIsNeverReadByTheNext lets requests time out, whose replies then
// arrive, and tells each limit by how much it holds.
func TestALateReplyIsNeverReadByTheNext(t *testing.T) {
	t.Parallel()
	server := redistest.Start(t)
	options := sidecarOptions(t, server.Addr())
	options.DialTimeout = 100 * time.Millisecond
	limiter := newRedis(t, options, patience)
	for round := range int64(3) {
		decide(t, limiter, fixedWindowOf("warm", 1, ages))
		awaitConnections(t, limiter)
		server.Pause()
		for i := range int64(connections) {
			check := fixedWindowOf(fmt.Sprint("late", round, i), 1000+i, ages)
			impatient, stop := context.WithTimeout(t.Context(), 5*time.Millisecond)
			if _, err := limiter.Decide(impatient, "shop", []Check{check}); ErrorKind(err) != KindTimeout {
				t.Fatalf("a paused server: error %v, want a timeout", err)
			}
			stop()
		}
		server.Resume()
		limiter.only().breaker.close()
		awaitConnections(t, limiter)
		var running sync.WaitGroup
		for i := range int64(20) {
			running.Go(func() {
				check := fixedWindowOf(fmt.Sprint("next", round, i), 10+i, ages)
				got, err := limiter.Decide(t.Context(), "shop", []Check{check})
				if err != nil || got.Limits[0].Remaining != 9+i {
					t.Errorf("limit of %d: %+v, %v, want its own answer", 10+i, got, err)
				}
			})
		}
		running.Wait()
	}
}

func TestAReadOnlyConnectionIsNotKept(t *testing.T) {
	t.Parallel()
	server := redistest.Start(t)
	admin := clientOf(t, server)
	between := startRelay(t, server.Addr())
	limiter := newRedis(t, sidecarOptions(t, between.listener.Addr().String()), patience)
	check := fixedWindowOf("a", 9, ages)
	decide(t, limiter, check)
	// A replica of a port where nobody listens: what a failover leaves behind.
	if err := admin.ReplicaOf(t.Context(), "127.0.0.1", "1").Err(); err != nil {
		t.Fatal(err)
	}
	before := between.connections.Load()
	for range opensAfter - 1 {
		awaitConnections(t, limiter)
		if _, err := limiter.Decide(t.Context(), "shop", []Check{check}); ErrorKind(err) != KindReadOnly {
			t.Errorf("error %v, want one of kind readonly", err)
		}
	}
	if err := admin.ReplicaOf(t.Context(), "NO", "ONE").Err(); err != nil {
		t.Fatal(err)
	}
	awaitConnections(t, limiter)
	if got := decide(t, limiter, check); got.Limits[0].Remaining != 7 {
		t.Errorf("%d left, want 7: a read-only store charges nothing", got.Limits[0].Remaining)
	}
	if after := between.connections.Load(); after < before+opensAfter-1 {
		t.Errorf("%d connections were made, want one for each that was read-only", after-before)
	}
}

func TestErrorKinds(t *testing.T) {
	t.Parallel()
	users := redistest.Start(t, redistest.WithUsers(
		"elsewhere on >secret ~other:* +@all", "reader on >secret ~* +@all -psetex", "writer on >secret ~* +@all -get"))
	secured := redistest.Start(t, redistest.WithConfig("requirepass secret"))
	stopped := redistest.Start(t)
	stopped.Stop()
	full := redistest.Start(t, redistest.WithConfig("maxmemory 1", "maxmemory-policy noeviction"))
	tests := map[string]*redis.Client{
		KindForbidden + "/keys":    users.ClientAs(t, "elsewhere", "secret"),
		KindForbidden + "/command": users.ClientAs(t, "reader", "secret"),
		KindForbidden + "/reading": users.ClientAs(t, "writer", "secret"),
		KindLogin + "/password":    users.ClientAs(t, "reader", "guess"),
		KindLogin + "/none":        secured.Client(t),
		KindConnection:             stopped.Client(t),
		KindOther + "/full":        full.Client(t),
	}
	for want, client := range tests {
		t.Run(want, func(t *testing.T) {
			t.Parallel()
			_, err := newRedis(t, client.Options(), patience).Decide(t.Context(), "shop", []Check{fixedWindowOf("a", 9, ages)})
			kind, _, _ := strings.Cut(want, "/")
			if got := ErrorKind(err); got != kind {
				t.Errorf("kind %q of %v, want %q", got, err, kind)
			}
		})
	}
	if got := ErrorKind(errors.New("anything")); got != KindOther {
		t.Errorf("kind %q of an unknown error, want %q", got, KindOther)
	}
	// A script that a person changed or a future Redis refuses.
	broken := newRedis(t, users.Client(t).Options(), patience)
	broken.only().dispatcher.scripts.decide = newScript("return nothing.here")
	if _, err := broken.Decide(t.Context(), "shop", []Check{fixedWindowOf("a", 9, ages)}); ErrorKind(err) != KindScript {
		t.Errorf("kind %q of %v, want %q", ErrorKind(err), err, KindScript)
	}
}
