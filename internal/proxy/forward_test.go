// Copyright The Penstock Authors.
// SPDX-License-Identifier: Apache-2.0

package proxy

import (
	"bufio"
	"fmt"
	"net"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// startEcho runs an app that answers with the head of the request that it got.
func startEcho(t *testing.T) string {
	return startRawApp(t, func(conn net.Conn, _ *bufio.Reader, head string) {
		fmt.Fprintf(conn, "HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: %d\r\n\r\n%s", len(head), head)
	})
}

// forwarded returns the head that an app got for a request.
func forwarded(t *testing.T, f *fixture, request string) []string {
	t.Helper()
	_, body, _ := strings.Cut(f.exchange(t, request), "\r\n\r\n")
	return strings.Split(strings.TrimSpace(body), "\r\n")
}

func TestTargetIsForwardedAsSent(t *testing.T) {
	t.Parallel()
	f := start(t, startEcho(t), nil, nil)
	tests := map[string]struct{ sent, want string }{
		"plain":                  {sent: "/a/b?c=d", want: "/a/b?c=d"},
		"escapes kept":           {sent: "/a%2fb/%41%c3%a9", want: "/a%2fb/%41%c3%a9"},
		"doubled slash in front": {sent: "//a//b", want: "//a//b"},
		"doubled slash, escapes": {sent: "//a%2fb/%41?x;y", want: "//a%2fb/%41?x;y"},
		"dot segments":           {sent: "/a/../b/./c", want: "/a/../b/./c"},
		"backslash":              {sent: "/a\\b", want: "/a\\b"},
		"odd bytes":              {sent: "/a\"<>^{}|`[]", want: "/a\"<>^{}|`[]"},
		"bytes beyond ASCII":     {sent: "/\xc3\xa9\xff", want: "/\xc3\xa9\xff"},
		"semicolons in query":    {sent: "/a?b;c=1;d", want: "/a?b;c=1;d"},
		"bad escape in query":    {sent: "/a?b=%zz&c", want: "/a?b=%zz&c"},
		"empty query":            {sent: "/a?", want: "/a?"},
		"query with slashes":     {sent: "/a?//b/../c", want: "/a?//b/../c"},
		"root with query":        {sent: "/?a", want: "/?a"},
		"asterisk":               {sent: "*", want: "*"},
		"absolute form":          {sent: "http://shop.example.com//a%2fb?c", want: "//a%2fb?c"},
		"absolute without path":  {sent: "http://shop.example.com?c", want: "/?c"},
		"hash is escaped":        {sent: "/a#b", want: "/a%23b"},
		"hash in the query":      {sent: "/a?b#c&d", want: "/a?b%23c&d"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			head := forwarded(t, f, "OPTIONS "+tc.sent+" HTTP/1.1\r\nHost: shop.example.com\r\nConnection: close\r\n\r\n")
			if want := "OPTIONS " + tc.want + " HTTP/1.1"; head[0] != want {
				t.Errorf("app got %q, want %q", head[0], want)
			}
		})
	}
}

func TestRequestHeaderIsForwardedAsSent(t *testing.T) {
	t.Parallel()
	f := start(t, startEcho(t), nil, nil)
	tests := map[string]struct {
		sent []string
		want []string
	}{
		"nothing is invented": {sent: nil, want: []string{"X-Forwarded-For: 127.0.0.1"}},
		"own fields pass": {
			sent: []string{"User-Agent: it", "Accept-Encoding: br", "Traceparent: 00-1-2-01", "Authorization: Bearer x"},
			want: []string{"User-Agent: it", "Accept-Encoding: br", "Authorization: Bearer x", "Traceparent: 00-1-2-01", "X-Forwarded-For: 127.0.0.1"},
		},
		"peer is appended": {
			sent: []string{"X-Forwarded-For: 203.0.113.7", "X-Forwarded-Proto: https", "X-Forwarded-Host: h", "Forwarded: for=203.0.113.7"},
			want: []string{"Forwarded: for=203.0.113.7", "X-Forwarded-For: 203.0.113.7, 127.0.0.1", "X-Forwarded-Host: h", "X-Forwarded-Proto: https"},
		},
		"peer is appended to the last line": {
			sent: []string{"X-Forwarded-For: 203.0.113.7", "X-Forwarded-For: 203.0.113.8"},
			want: []string{"X-Forwarded-For: 203.0.113.7", "X-Forwarded-For: 203.0.113.8, 127.0.0.1"},
		},
		"empty forwarded-for": {sent: []string{"X-Forwarded-For:"}, want: []string{"X-Forwarded-For: 127.0.0.1"}},
		"forwarded-for cannot be dropped by Connection": {
			sent: []string{"X-Forwarded-For: 203.0.113.7", "X-Forwarded-Proto: https", "Connection: x-forwarded-for, X-Forwarded-Proto"},
			want: []string{"X-Forwarded-For: 203.0.113.7, 127.0.0.1", "X-Forwarded-Proto: https"},
		},
		"hop-by-hop fields end here": {
			sent: []string{"Connection: X-Hop", "X-Hop: 1", "Keep-Alive: timeout=5", "Proxy-Connection: keep-alive", "Te: gzip"},
			want: []string{"X-Forwarded-For: 127.0.0.1"},
		},
		"TE: trailers passes": {sent: []string{"Te: trailers"}, want: []string{"Te: trailers", "X-Forwarded-For: 127.0.0.1"}},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			lines := append([]string{"GET / HTTP/1.1", "Host: Shop.Example.com:81", "Connection: close"}, tc.sent...)
			head := forwarded(t, f, strings.Join(lines, "\r\n")+"\r\n\r\n")
			want := append([]string{"GET / HTTP/1.1", "Host: Shop.Example.com:81"}, tc.want...)
			if diff := cmp.Diff(want, head); diff != "" {
				t.Errorf("app got (-want +got):\n%s", diff)
			}
		})
	}
}

func TestPreserveForwardedFor(t *testing.T) {
	t.Parallel()
	f := startBare(t, startEcho(t), nil, Options{PreserveForwardedFor: true})
	f.server.SetRules(rulesOf(t))
	head := forwarded(t, f, "GET / HTTP/1.1\r\nHost: a\r\nX-Forwarded-For: 203.0.113.7\r\nConnection: close\r\n\r\n")
	if diff := cmp.Diff([]string{"GET / HTTP/1.1", "Host: a", "X-Forwarded-For: 203.0.113.7"}, head); diff != "" {
		t.Errorf("app got (-want +got):\n%s", diff)
	}
}

func TestOnlyWebSocketUpgradePasses(t *testing.T) {
	t.Parallel()
	f := start(t, startEcho(t), nil, nil)
	tests := map[string]struct {
		sent string
		want []string
	}{
		"h2c":                   {sent: "Upgrade: h2c\r\nHTTP2-Settings: AAMAAABkAAQAoAAAAAIAAAAA\r\nConnection: Upgrade, HTTP2-Settings\r\n"},
		"h2c behind websocket":  {sent: "Upgrade: websocket, h2c\r\nConnection: Upgrade\r\n"},
		"TLS":                   {sent: "Upgrade: TLS/1.3\r\nConnection: upgrade\r\n"},
		"without Connection":    {sent: "Upgrade: websocket\r\n"},
		"websocket":             {sent: "Upgrade: websocket\r\nConnection: Upgrade\r\n", want: []string{"Connection: Upgrade", "Upgrade: websocket"}},
		"websocket, other case": {sent: "Upgrade: WebSocket\r\nConnection: keep-alive, Upgrade\r\n", want: []string{"Connection: Upgrade", "Upgrade: WebSocket"}},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			head := forwarded(t, f, "GET / HTTP/1.1\r\nHost: a\r\n"+tc.sent+"Connection: close\r\n\r\n")
			want := append(append([]string{"GET / HTTP/1.1", "Host: a"}, tc.want...), "X-Forwarded-For: 127.0.0.1")
			slices.Sort(want)
			slices.Sort(head)
			if diff := cmp.Diff(want, head); diff != "" {
				t.Errorf("app got (-want +got):\n%s", diff)
			}
		})
	}
}
