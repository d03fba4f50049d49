// Copyright The Penstock Authors.
// SPDX-License-Identifier: Apache-2.0

package proxy

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"syscall"
	"testing"
	"time"
)

// TestDrainFollowsTheApp walks through the end of a pod's life: answers close
// their connections, new connections are still taken, and once the app is gone
// they are refused.
func TestDrainFollowsTheApp(t *testing.T) {
	t.Parallel()
	app := httptest.NewServer(http.HandlerFunc(okApp))
	defer app.Close()
	f := start(t, app.URL, nil, nil)
	conn, reader := f.dial(t)
	fmt.Fprint(conn, "GET / HTTP/1.1\r\nHost: a\r\n\r\n")
	if response, err := http.ReadResponse(reader, nil); err != nil || response.Close {
		t.Fatalf("before the drain the answer is %v, %v, want one that keeps the connection", response, err)
	}
	if _, err := reader.Discard(len("ok")); err != nil {
		t.Fatal(err)
	}

	f.server.Drain()
	f.server.Drain()
	fmt.Fprint(conn, "GET / HTTP/1.1\r\nHost: a\r\n\r\n")
	if response, err := http.ReadResponse(reader, nil); err != nil || response.StatusCode != http.StatusOK || !response.Close {
		t.Fatalf("the answer while draining is %v, %v, want 200 that closes the connection", response, err)
	}
	if answer := f.exchange(t, "GET / HTTP/1.1\r\nHost: a\r\n\r\n"); !strings.HasPrefix(answer, "HTTP/1.1 200") {
		t.Errorf("a new connection while draining gets %q, want 200", answer)
	}
	if response, _ := send(t, http.MethodGet, f.adminURL+"/readyz", nil, nil); response.StatusCode != http.StatusServiceUnavailable {
		t.Errorf("/readyz while draining is %d, want 503", response.StatusCode)
	}

	app.Close()
	waitForRefusal(t, f.address)
	if response, _ := send(t, http.MethodGet, f.adminURL+"/healthz", nil, nil); response.StatusCode != http.StatusOK {
		t.Errorf("/healthz after the app's end is %d, want 200", response.StatusCode)
	}
}

func TestDrainLeavesWebSocketsAlone(t *testing.T) {
	t.Parallel()
	f := start(t, startWebSocketApp(t), nil, nil)
	f.server.Drain()
	conn, reader := f.dial(t)
	fmt.Fprint(conn, webSocketRequest)
	head, err := readHead(reader)
	if err != nil || !strings.Contains(head, "Connection: Upgrade\r\n") || strings.Contains(head, "close") {
		t.Errorf("answer is %q, %v, want an upgrade", head, err)
	}
}

// TestEndCompletesAnswers holds that an answer under way is not cut off.
func TestEndCompletesAnswers(t *testing.T) {
	t.Parallel()
	arrived, goOn := make(chan struct{}), make(chan struct{})
	app := startApp(t, func(w http.ResponseWriter, _ *http.Request) {
		close(arrived)
		<-goOn
		okApp(w, nil)
	})
	f := start(t, app, nil, nil)
	conn, reader := f.dial(t)
	fmt.Fprint(conn, "GET / HTTP/1.1\r\nHost: a\r\n\r\n")
	<-arrived
	ended := make(chan error, 1)
	go func() { ended <- f.stop() }()
	waitForRefusal(t, f.address)
	close(goOn)
	if response, err := http.ReadResponse(reader, nil); err != nil || response.StatusCode != http.StatusOK || !response.Close {
		t.Errorf("the answer under way is %v, %v, want 200 that closes the connection", response, err)
	}
	if err := <-ended; err != nil {
		t.Errorf("Run = %v, want nil", err)
	}
}

// TestEndIsBounded holds that an app that never answers cannot hold up the end.
func TestEndIsBounded(t *testing.T) {
	t.Parallel()
	arrived := make(chan struct{})
	app := startRawApp(t, func(_ net.Conn, reader *bufio.Reader, _ string) {
		close(arrived)
		_, _ = reader.ReadByte()
	})
	f := startBare(t, app, nil, Options{Bounds: Bounds{ShutdownTimeout: 50 * time.Millisecond}})
	f.server.SetRules(rulesOf(t))
	conn, _ := f.dial(t)
	fmt.Fprint(conn, "GET / HTTP/1.1\r\nHost: a\r\n\r\n")
	<-arrived
	if err := f.stop(); err != nil {
		t.Errorf("Run = %v, want nil", err)
	}
}

// waitForRefusal waits until an address refuses connections.
func waitForRefusal(t *testing.T, address string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	var dialer net.Dialer
	for ctx.Err() == nil {
		conn, err := dialer.DialContext(ctx, "tcp", address)
		if errors.Is(err, syscall.ECONNREFUSED) {
			return
		}
		if err == nil {
			conn.Close()
		}
	}
	t.Fatalf("%s still takes connections", address)
}
