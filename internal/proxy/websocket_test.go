// Copyright The Penstock Authors.
// SPDX-License-Identifier: Apache-2.0

package proxy

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"
)

const webSocketRequest = "GET /chat HTTP/1.1\r\nHost: a\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Version: 13\r\n\r\n"

// startWebSocketApp echoes lines once the protocol is switched. The first line
// is sent in one packet with the switch, where bytes are easily lost.
func startWebSocketApp(t *testing.T) string {
	return startRawApp(t, func(conn net.Conn, reader *bufio.Reader, _ string) {
		fmt.Fprint(conn, "HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Accept: s3pPLMBiTxaQ9kYGzzhZRbK+xOo=\r\n\r\nhello\n")
		_, _ = io.Copy(conn, reader)
	})
}

func TestWebSocketPasses(t *testing.T) {
	t.Parallel()
	f := start(t, startWebSocketApp(t), rulesOf(t, onePolicy()), admitting)
	conn, reader := f.dial(t)
	fmt.Fprint(conn, webSocketRequest)
	head, err := readHead(reader)
	if err != nil || !strings.HasPrefix(head, "HTTP/1.1 101") || !strings.Contains(head, "Upgrade: websocket\r\n") {
		t.Fatalf("answer is %q, %v, want 101", head, err)
	}
	if !strings.Contains(head, "RateLimit: ") {
		t.Errorf("answer %q tells nothing about limits", head)
	}
	for _, want := range []string{"hello\n", "one\n", "two\n"} {
		if want != "hello\n" {
			fmt.Fprint(conn, want)
		}
		if got, err := reader.ReadString('\n'); err != nil || got != want {
			t.Fatalf("received %q, %v, want %q", got, err, want)
		}
	}
}

func TestWebSocketEndsWithTheServer(t *testing.T) {
	t.Parallel()
	f := startBare(t, startWebSocketApp(t), nil, Options{Bounds: Bounds{ShutdownTimeout: 50 * time.Millisecond}})
	f.server.SetRules(rulesOf(t))
	conn, reader := f.dial(t)
	fmt.Fprint(conn, webSocketRequest)
	if _, err := readHead(reader); err != nil {
		t.Fatal(err)
	}
	if err := f.stop(); err != nil {
		t.Fatalf("Run = %v, want nil", err)
	}
	if rest, err := io.ReadAll(reader); string(rest) != "hello\n" {
		t.Errorf("rest is %q, %v, want the hello and the end", rest, err)
	}
}

// TestUnaskedSwitchIsRefused holds that the app's connection is closed then,
// which the reverse proxy of net/http does not do.
func TestUnaskedSwitchIsRefused(t *testing.T) {
	t.Parallel()
	tests := map[string]struct{ request, switchTo string }{
		"unasked":        {request: "GET / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n", switchTo: "websocket"},
		"another":        {request: webSocketRequest, switchTo: "h2c"},
		"unasked h2c":    {request: "GET / HTTP/1.1\r\nHost: a\r\nUpgrade: h2c\r\nConnection: Upgrade\r\n\r\n", switchTo: "h2c"},
		"without a name": {request: webSocketRequest, switchTo: ""},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			closed := make(chan struct{})
			app := startRawApp(t, func(conn net.Conn, reader *bufio.Reader, _ string) {
				defer close(closed)
				fmt.Fprintf(conn, "HTTP/1.1 101 Switching Protocols\r\nUpgrade: %s\r\nConnection: Upgrade\r\n\r\n", tc.switchTo)
				_, _ = io.Copy(io.Discard, reader)
			})
			f := start(t, app, nil, nil)
			conn, reader := f.dial(t)
			fmt.Fprint(conn, tc.request)
			response, err := http.ReadResponse(reader, nil)
			if err != nil || response.StatusCode != http.StatusBadGateway {
				t.Fatalf("answer is %v, %v, want 502", response, err)
			}
			select {
			case <-closed:
			case <-time.After(patience):
				t.Error("the app's connection is left open")
				conn.Close()
			}
		})
	}
}
