// Copyright The Penstock Authors.
// SPDX-License-Identifier: Apache-2.0

package proxy

import (
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/penstock-dev/penstock/internal/limiter"
	"github.com/penstock-dev/penstock/internal/ruleset"
)

// delaying admits every request after a delay, and tells of each.
func delaying(delay time.Duration) (decide decideFunc, decided chan struct{}) {
	decided = make(chan struct{}, 16)
	return func(ctx context.Context, namespace string, checks []limiter.Check) (limiter.Decision, error) {
		decision, err := admitting(ctx, namespace, checks)
		decision.Delay = delay
		decided <- struct{}{}
		return decision, err
	}, decided
}

// TestBodyIsNotAskedForBeforeItsTurn holds that a client with "Expect: 100-continue"
// keeps its body until the request goes on.
func TestBodyIsNotAskedForBeforeItsTurn(t *testing.T) {
	t.Parallel()
	const delay = 200 * time.Millisecond
	decide, decided := delaying(delay)
	app := startApp(t, func(w http.ResponseWriter, request *http.Request) {
		_, _ = io.Copy(w, request.Body)
	})
	f := start(t, app, rulesOf(t, onePolicy()), decide)
	conn, reader := f.dial(t)
	sent := time.Now()
	fmt.Fprint(conn, "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 3\r\nExpect: 100-continue\r\nConnection: close\r\n\r\n")
	<-decided
	line, err := reader.ReadString('\n')
	if err != nil || !strings.HasPrefix(line, "HTTP/1.1 100 ") {
		t.Fatalf("first line %q, %v, want 100 Continue", line, err)
	}
	if waited := time.Since(sent); waited < delay {
		t.Errorf("the body was asked for after %v, before the request's turn", waited)
	}
	fmt.Fprint(conn, "abc")
	if _, err := reader.ReadString('\n'); err != nil {
		t.Fatal(err)
	}
	if response, err := http.ReadResponse(reader, nil); err != nil || response.StatusCode != http.StatusOK {
		t.Errorf("the answer is %v, %v, want 200", response, err)
	}
}

// TestTheEndLetsWaitingRequestsGoOn holds that none is lost with its pod.
func TestTheEndLetsWaitingRequestsGoOn(t *testing.T) {
	t.Parallel()
	ends := map[string]func(*fixture){
		"drain": func(f *fixture) { f.server.Drain() },
		"end": func(f *fixture) {
			if err := f.stop(); err != nil {
				t.Errorf("Run = %v, want nil", err)
			}
		},
	}
	for name, end := range ends {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			decide, decided := delaying(time.Hour)
			f := start(t, startApp(t, okApp), rulesOf(t, onePolicy()), decide)
			conn, reader := f.dial(t)
			fmt.Fprint(conn, "GET / HTTP/1.1\r\nHost: a\r\n\r\n")
			<-decided
			go end(f)
			if response, err := http.ReadResponse(reader, nil); err != nil || response.StatusCode != http.StatusOK || !response.Close {
				t.Errorf("the answer is %v, %v, want 200 that closes the connection", response, err)
			}
		})
	}
}

// TestAClientThatLeavesGivesItsTurnBack has real clients leave a real queue of two.
func TestAClientThatLeavesGivesItsTurnBack(t *testing.T) {
	t.Parallel()
	policy := onePolicy()
	policy.Rules[0].Limits[0] = ruleset.Limit{
		Name: "queue", Algorithm: ruleset.LeakyBucket, Requests: 4, Burst: 2, WindowMicros: time.Minute.Microseconds(), Key: "AAAAAAAA",
	}
	memory, decisions := limiter.NewMemory(nil, 0), make(chan limiter.Decision, 16)
	var seen atomic.Int64
	app := startApp(t, func(w http.ResponseWriter, request *http.Request) {
		seen.Add(1)
		okApp(w, request)
	})
	f := start(t, app, rulesOf(t, policy), func(ctx context.Context, namespace string, checks []limiter.Check) (limiter.Decision, error) {
		decision, err := memory.Decide(ctx, namespace, checks)
		decisions <- decision
		return decision, err
	})
	send(t, http.MethodGet, f.url, nil, nil)
	if first := <-decisions; !first.Allowed || first.Delay != 0 {
		t.Fatalf("the first request was decided on with %+v, want it to go on at once", first)
	}
	for i := range 3 {
		// Each finds the turn free that the one before gave back.
		decision := limiter.Decision{}
		for waited := time.Now(); !decision.Allowed && time.Since(waited) < patience; {
			conn, _ := f.dial(t)
			fmt.Fprint(conn, "GET / HTTP/1.1\r\nHost: a\r\n\r\n")
			decision = <-decisions
			conn.Close()
		}
		if !decision.Allowed || decision.Delay == 0 || decision.Delay > 15*time.Second {
			t.Fatalf("request %d: %+v, want a wait of at most 15 s", i+2, decision)
		}
	}
	if got := seen.Load(); got != 1 {
		t.Errorf("the app saw %d requests, want only the one whose client waited", got)
	}
}

// TestClientsThatLeaveAtOnceDelayNobody has five real clients leave a real queue, the
// newest first and without waiting for that to be noticed.
func TestClientsThatLeaveAtOnceDelayNobody(t *testing.T) {
	t.Parallel()
	policy := onePolicy()
	policy.Rules[0].Limits[0] = ruleset.Limit{
		Name: "queue", Algorithm: ruleset.LeakyBucket, Requests: 4, Burst: 6, WindowMicros: time.Minute.Microseconds(), Key: "AAAAAAAA",
	}
	memory, decisions := limiter.NewMemory(nil, 0), make(chan limiter.Decision, 16)
	f := start(t, startApp(t, okApp), rulesOf(t, policy), func(ctx context.Context, namespace string, checks []limiter.Check) (limiter.Decision, error) {
		decision, err := memory.Decide(ctx, namespace, checks)
		decisions <- decision
		return decision, err
	})
	send(t, http.MethodGet, f.url, nil, nil)
	<-decisions
	wait := func() (net.Conn, limiter.Decision) {
		conn, _ := f.dial(t)
		fmt.Fprint(conn, "GET / HTTP/1.1\r\nHost: a\r\n\r\n")
		return conn, <-decisions
	}
	var waiting []net.Conn
	for range 5 {
		conn, decision := wait()
		if !decision.Allowed {
			t.Fatalf("%+v, want a place in the queue", decision)
		}
		waiting = append(waiting, conn)
	}
	for _, conn := range slices.Backward(waiting) {
		conn.Close()
	}
	for began := time.Now(); ; {
		conn, decision := wait()
		if decision.Allowed && decision.Delay <= 15*time.Second {
			return
		}
		conn.Close()
		if time.Since(began) > patience {
			t.Fatalf("who comes after all have left: %+v, want a wait of at most 15 s", decision)
		}
	}
}
