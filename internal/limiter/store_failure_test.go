// Copyright The Penstock Authors.
// SPDX-License-Identifier: Apache-2.0

package limiter

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/penstock-dev/penstock/internal/redisconn"
	"github.com/penstock-dev/penstock/test/redistest"
)

// sidecarClient is the client that sidecars use, with a timeout of choice.
func sidecarClient(t testing.TB, addr string, timeout time.Duration) redis.UniversalClient {
	t.Helper()
	client, err := redisconn.New(redisconn.Settings{Addresses: []string{addr}, OperationTimeout: timeout}, redisconn.Deciding)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = client.Close() })
	return client
}

func calls(t *testing.T, client *redis.Client, command string) string {
	t.Helper()
	statistics, err := client.Info(t.Context(), "commandstats").Result()
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(statistics) {
		if rest, found := strings.CutPrefix(line, "cmdstat_"+command+":calls="); found {
			count, _, _ := strings.Cut(rest, ",")
			return count
		}
	}
	return "0"
}

func TestADecisionIsOneCall(t *testing.T) {
	t.Parallel()
	client := clientOf(t, redistest.Start(t))
	limiter := newRedis(t, client, patience)
	checks := []Check{tokenBucketOf("a", 1, 100, ages/100), fixedWindowOf("a", 100, ages), fixedWindowOf("b", 100, ages)}
	for range 10 {
		decide(t, limiter, checks...)
	}
	// The first EVALSHA finds no script and is followed by one EVAL.
	if sha, text := calls(t, client, "evalsha"), calls(t, client, "eval"); sha != "10" || text != "1" {
		t.Errorf("10 decisions took %s EVALSHA and %s EVAL, want 10 and 1", sha, text)
	}
}

func TestAForgottenScriptIsSentAgain(t *testing.T) {
	t.Parallel()
	client := clientOf(t, redistest.Start(t))
	limiter := newRedis(t, client, patience)
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
	direct := newRedis(t, clientOf(t, server), patience)
	between := startRelay(t, server.Addr())
	cluster := redis.NewClusterClient(&redis.ClusterOptions{
		Addrs: []string{between.listener.Addr().String()}, MaxRetries: -1, Protocol: 2,
		ClusterSlots: oneNode(between.listener.Addr().String()),
	})
	t.Cleanup(func() { _ = cluster.Close() })
	clients := map[string]redis.UniversalClient{
		"standalone": sidecarClient(t, between.listener.Addr().String(), patience), "cluster": cluster,
	}
	for name, client := range clients {
		through := newRedis(t, client, patience)
		for cut := range int64(4) {
			check := fixedWindowOf(fmt.Sprint(name, cut), 9, ages)
			decide(t, through, check)
			between.cutting.Store(cut)
			_, err := through.Decide(t.Context(), "shop", []Check{check})
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
	limiter := newRedis(t, sidecarClient(t, server.Addr(), deadline), deadline)
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
	client := sidecarClient(t, server.Addr(), patience)
	impatient, patient := newRedis(t, client, 5*time.Millisecond), newRedis(t, client, patience)
	for round := range int64(3) {
		decide(t, patient, fixedWindowOf("warm", 1, ages))
		server.Pause()
		for i := range int64(3) {
			check := fixedWindowOf(fmt.Sprint("late", round, i), 1000+i, ages)
			if _, err := impatient.Decide(t.Context(), "shop", []Check{check}); ErrorKind(err) != KindTimeout {
				t.Fatalf("a paused server: error %v, want a timeout", err)
			}
		}
		server.Resume()
		impatient.breaker.close()
		var running sync.WaitGroup
		for i := range int64(20) {
			running.Go(func() {
				check := fixedWindowOf(fmt.Sprint("next", round, i), 10+i, ages)
				got, err := patient.Decide(t.Context(), "shop", []Check{check})
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
	limiter := newRedis(t, sidecarClient(t, between.listener.Addr().String(), patience), patience)
	check := fixedWindowOf("a", 9, ages)
	decide(t, limiter, check)
	// A replica of a port where nobody listens: what a failover leaves behind.
	if err := admin.ReplicaOf(t.Context(), "127.0.0.1", "1").Err(); err != nil {
		t.Fatal(err)
	}
	before := between.connections.Load()
	for range opensAfter - 1 {
		if _, err := limiter.Decide(t.Context(), "shop", []Check{check}); ErrorKind(err) != KindReadOnly {
			t.Errorf("error %v, want one of kind readonly", err)
		}
	}
	if err := admin.ReplicaOf(t.Context(), "NO", "ONE").Err(); err != nil {
		t.Fatal(err)
	}
	if got := decide(t, limiter, check); got.Limits[0].Remaining != 7 {
		t.Errorf("%d left, want 7: a read-only store charges nothing", got.Limits[0].Remaining)
	}
	if after := between.connections.Load(); after == before {
		t.Error("no new connection was made: the read-only one was kept")
	}
}

func TestErrorKinds(t *testing.T) {
	t.Parallel()
	users := redistest.Start(t, redistest.WithUsers(
		"elsewhere on >secret ~other:* +@all", "reader on >secret ~* +@all -set", "writer on >secret ~* +@all -get"))
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
			_, err := newRedis(t, client, patience).Decide(t.Context(), "shop", []Check{fixedWindowOf("a", 9, ages)})
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
	broken := newRedis(t, users.Client(t), patience)
	broken.script = newScript("return nothing.here")
	if _, err := broken.Decide(t.Context(), "shop", []Check{fixedWindowOf("a", 9, ages)}); ErrorKind(err) != KindScript {
		t.Errorf("kind %q of %v, want %q", ErrorKind(err), err, KindScript)
	}
}
