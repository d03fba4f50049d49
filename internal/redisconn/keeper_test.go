// Copyright The Penstock Authors.
// SPDX-License-Identifier: Apache-2.0

package redisconn_test

import (
	"context"
	"errors"
	"net"
	"sync/atomic"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/penstock-dev/penstock/internal/redisconn"
	"github.com/penstock-dev/penstock/test/redistest"
)

// patience bounds waits whose length is not a test's subject.
const patience = 10 * time.Second

// next returns the next link that was opened.
func next(t *testing.T, links <-chan *redisconn.Link) *redisconn.Link {
	t.Helper()
	select {
	case link := <-links:
		return link
	case <-time.After(patience):
		t.Fatalf("no connection was opened in %v", patience)
		return nil
	}
}

func ping(ctx context.Context, link *redisconn.Link) error {
	return link.Process(ctx, redis.NewStatusCmd(ctx, "ping"))
}

func TestLostConnectionsAreReplaced(t *testing.T) {
	t.Parallel()
	server := redistest.Start(t)
	admin := server.Client(t)
	_, links := keep(t, patient(redisconn.Settings{Addresses: []string{server.Addr()}}))
	one, other := next(t, links), next(t, links)
	one.Lose()
	one.Lose()
	third := next(t, links)
	if err := ping(t.Context(), one); err == nil {
		t.Error("a connection that was given up still works")
	}
	for _, link := range []*redisconn.Link{other, third} {
		if err := ping(t.Context(), link); err != nil || !link.IsOpen() {
			t.Errorf("ping: %v, open %t, want an open connection", err, link.IsOpen())
		}
	}
	if err := admin.ClientKillByFilter(t.Context(), "TYPE", "normal", "SKIPME", "yes").Err(); err != nil {
		t.Fatal(err)
	}
	for deadline := time.Now().Add(patience); other.IsOpen() || third.IsOpen(); {
		if time.Now().After(deadline) {
			t.Fatal("connections that the server closed look open")
		}
	}
	select {
	case <-links:
		t.Error("a connection was opened that nobody asked for")
	default:
	}
}

func TestTLSConnectionsLookOpenUntilTheyAreNot(t *testing.T) {
	t.Parallel()
	server := redistest.Start(t, redistest.WithTLS())
	settings := patient(redisconn.Settings{
		Addresses: []string{server.Addr()}, TLS: &redisconn.TLS{CA: server.CA(), ServerName: server.ServerName()},
	})
	_, links := keep(t, settings)
	link := next(t, links)
	if err := ping(t.Context(), link); err != nil || !link.IsOpen() {
		t.Errorf("ping: %v, open %t, want an open connection", err, link.IsOpen())
	}
	server.Stop()
	for deadline := time.Now().Add(patience); link.IsOpen(); {
		if time.Now().After(deadline) {
			t.Fatal("a connection to a server that has ended looks open")
		}
	}
}

// TestDecidingClientObeysTheDeadlineOfASilentServer has a server that greets and
// then hangs. A call may take as long as its context says, whatever the client's
// own timeouts are.
func TestDecidingClientObeysTheDeadlineOfASilentServer(t *testing.T) {
	t.Parallel()
	server := redistest.Start(t)
	_, links := keep(t, patient(redisconn.Settings{Addresses: []string{server.Addr()}}))
	link := next(t, links)
	server.Pause()
	defer server.Resume()
	const deadline = 25 * time.Millisecond
	ctx, cancel := context.WithTimeout(t.Context(), deadline)
	defer cancel()
	began := time.Now()
	if err := ping(ctx, link); err == nil {
		t.Error("a paused server answered")
	}
	if took := time.Since(began); took < deadline || took > time.Second {
		t.Errorf("the call ended after %v, want %v", took, deadline)
	}
	if err := ping(t.Context(), link); err == nil {
		t.Error("the connection was used again after a timeout")
	}
}

// TestProcessAllGivesEachCommandItsReply has one command fail among others.
func TestProcessAllGivesEachCommandItsReply(t *testing.T) {
	t.Parallel()
	server := redistest.Start(t)
	_, links := keep(t, patient(redisconn.Settings{Addresses: []string{server.Addr()}}))
	link := next(t, links)
	first, second := redis.NewStatusCmd(t.Context(), "set", "a", "1", "ex", "60"), redis.NewStringCmd(t.Context(), "nonsense")
	third := redis.NewStringCmd(t.Context(), "get", "a")
	err := link.ProcessAll(t.Context(), []redis.Cmder{first, second, third})
	if err == nil || !errors.Is(err, second.Err()) || first.Err() != nil || third.Val() != "1" {
		t.Errorf("error %v; commands: %v, %v, %v", err, first, second, third)
	}
	server.Stop()
	if err := link.ProcessAll(t.Context(), []redis.Cmder{first, third}); err == nil || first.Err() == nil || third.Err() == nil {
		t.Errorf("error %v, of commands %v and %v, want one of each, as the server is gone", err, first.Err(), third.Err())
	}
}

// TestASilentServerIsGivenUp connects to one that accepts and never says a word: a
// black hole behind a working network.
func TestASilentServerIsGivenUp(t *testing.T) {
	t.Parallel()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = listener.Close() })
	settings := redisconn.Settings{Addresses: []string{listener.Addr().String()}, DialTimeout: 50 * time.Millisecond}
	keeper, _ := keep(t, settings)
	began := time.Now()
	keeper.Await(t.Context())
	if took := time.Since(began); took > patience/2 || keeper.Failure() == nil {
		t.Errorf("waited %v, failure %v, want it given up after %v", took, keeper.Failure(), settings.DialTimeout)
	}
}

// TestConnectingPauses counts how often a server that hangs up is dialled.
func TestConnectingPauses(t *testing.T) {
	t.Parallel()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	var dialled atomic.Int64
	accepted := make(chan struct{})
	go func() {
		defer close(accepted)
		for {
			connection, err := listener.Accept()
			if err != nil {
				return
			}
			dialled.Add(1)
			_ = connection.Close()
		}
	}()
	keeper, _ := keep(t, patient(redisconn.Settings{Addresses: []string{listener.Addr().String()}}))
	<-time.After(500 * time.Millisecond)
	keeper.Close()
	_ = listener.Close()
	<-accepted
	// Pauses of at least 10, 20, 40, 80, 160 and 320 ms fill the time.
	if count := dialled.Load(); count < 2 || count > 2*7 {
		t.Errorf("two connections were tried %d times in half a second, want at most 14", count)
	}
}
