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

	"github.com/penstock-dev/penstock/internal/limiter"
	"github.com/penstock-dev/penstock/internal/ruleset"
)

// startOneAtOnce lets one request at once through.
func startOneAtOnce(t *testing.T, upstream string) *counting {
	t.Helper()
	policy := onePolicy()
	policy.Rules[0].Limits[0] = ruleset.Limit{Name: "places", Algorithm: ruleset.Concurrency, Requests: 1, Burst: 1, Key: "AAAAAAAA"}
	return startCounting(t, upstream, policy)
}

// TestPlacesAreGivenBackOnEveryWayOut ends a request that holds the only place in
// every way that there is.
func TestPlacesAreGivenBackOnEveryWayOut(t *testing.T) {
	t.Parallel()
	const get = "GET / HTTP/1.1\r\nHost: a\r\n\r\n"
	head := func(conn net.Conn, text string) { fmt.Fprint(conn, text) }
	untilLeft := func(_ net.Conn, reader *bufio.Reader) { _, _ = reader.ReadByte() }
	tests := map[string]struct {
		request string
		// app answers a request; nil is an app that takes no connection.
		app func(conn net.Conn, reader *bufio.Reader)
		// client does what it does once the request is admitted.
		client func(conn net.Conn, reader *bufio.Reader)
	}{
		"the answer ends": {request: get, app: func(conn net.Conn, _ *bufio.Reader) { head(conn, "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n") }},
		"the client leaves before the answer": {
			request: get, app: untilLeft,
			client: func(conn net.Conn, _ *bufio.Reader) { conn.Close() },
		},
		"the client leaves in the answer": {
			request: get,
			app: func(conn net.Conn, reader *bufio.Reader) {
				head(conn, "HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nabc")
				untilLeft(conn, reader)
			},
			client: func(conn net.Conn, reader *bufio.Reader) {
				_, _ = readHead(reader)
				conn.Close()
			},
		},
		"the app takes no connection":   {request: get},
		"the app closes without answer": {request: get, app: func(net.Conn, *bufio.Reader) {}},
		"the app dies in the answer":    {request: get, app: func(conn net.Conn, _ *bufio.Reader) { head(conn, "HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nabc") }},
		"the app answers nonsense":      {request: get, app: func(conn net.Conn, _ *bufio.Reader) { head(conn, "hello\r\n\r\n") }},
		"the body ends early": {
			request: "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 9\r\n\r\nabc", app: untilLeft,
			client: func(conn net.Conn, _ *bufio.Reader) { conn.Close() },
		},
		"a WebSocket that the client ends": {
			request: webSocketRequest,
			app: func(conn net.Conn, reader *bufio.Reader) {
				head(conn, "HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n\r\n")
				untilLeft(conn, reader)
			},
			client: func(conn net.Conn, reader *bufio.Reader) {
				_, _ = readHead(reader)
				conn.Close()
			},
		},
		"a WebSocket that the app ends": {
			request: webSocketRequest,
			app: func(conn net.Conn, _ *bufio.Reader) {
				head(conn, "HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n\r\n")
			},
			client: func(conn net.Conn, reader *bufio.Reader) {
				// The client notices, and ends its half.
				_, _ = io.Copy(io.Discard, reader)
				conn.Close()
			},
		},
		"an unasked switch": {request: get, app: func(conn net.Conn, _ *bufio.Reader) {
			head(conn, "HTTP/1.1 101 Switching Protocols\r\nUpgrade: h2c\r\nConnection: Upgrade\r\n\r\n")
		}},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			upstream := "127.0.0.1:1"
			held := make(chan bool, 1)
			var o *counting
			var check limiter.Check
			ready := make(chan struct{})
			if tc.app != nil {
				upstream = startRawApp(t, func(conn net.Conn, reader *bufio.Reader, _ string) {
					<-ready
					held <- o.remaining(t, check) == 0
					tc.app(conn, reader)
				})
			}
			o = startOneAtOnce(t, upstream)
			conn, reader := o.dial(t)
			fmt.Fprint(conn, tc.request)
			check = <-o.asked
			close(ready)
			if tc.app != nil && !<-held {
				t.Error("the place was free while the app was about to answer")
			}
			if tc.client != nil {
				tc.client(conn, reader)
			} else {
				_, _ = readHead(reader)
			}
			for waited := time.Now(); o.remaining(t, check) == 0; {
				if time.Since(waited) > patience {
					t.Fatal("the place is still held")
				}
			}
		})
	}
}

// TestRefusalForWantOfAPlace holds what clients are told.
func TestRefusalForWantOfAPlace(t *testing.T) {
	t.Parallel()
	goOn, arrived := make(chan struct{}), make(chan struct{}, 1)
	o := startOneAtOnce(t, startApp(t, func(w http.ResponseWriter, _ *http.Request) {
		arrived <- struct{}{}
		<-goOn
		_, _ = io.WriteString(w, "ok")
	}))
	first, reader := o.dial(t)
	fmt.Fprint(first, "GET / HTTP/1.1\r\nHost: a\r\n\r\n")
	<-arrived
	response, body := send(t, http.MethodGet, o.url, nil, nil)
	checkProblem(t, response, body, http.StatusTooManyRequests, `Limit "web/all/places" allows 1 request at once, and all are being answered. Try again in 1 second.`)
	if got := response.Header.Get("Retry-After"); got != "1" {
		t.Errorf("Retry-After is %q, want 1", got)
	}
	if got := response.Header.Get("RateLimit-Policy"); !strings.HasPrefix(got, `"web/all/places";q=1;qu="concurrent-requests";pk=`) {
		t.Errorf("RateLimit-Policy is %s", got)
	}
	close(goOn)
	if response, err := http.ReadResponse(reader, nil); err != nil || response.StatusCode != http.StatusOK {
		t.Errorf("the first answer is %v, %v, want 200", response, err)
	}
}
