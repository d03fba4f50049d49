// Copyright The Penstock Authors.
// SPDX-License-Identifier: Apache-2.0

package proxy

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"syscall"
	"testing"
	"time"
)

func TestProtocolOf(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		head      string
		want      protocol
		wantKnown bool
	}{
		"TLS":               {head: "\x16\x03\x01", want: protocolTLS, wantKnown: true},
		"TLS, one byte":     {head: "\x16", want: protocolTLS, wantKnown: true},
		"HTTP/2":            {head: "PRI * HTTP/2.0", want: protocolHTTP2, wantKnown: true},
		"part of a preface": {head: "PRI * HTT", want: protocolHTTP1},
		"P":                 {head: "P", want: protocolHTTP1},
		"POST":              {head: "PO", want: protocolHTTP1, wantKnown: true},
		"GET":               {head: "GET / HTTP/1.1", want: protocolHTTP1, wantKnown: true},
		"PRI of HTTP/1":     {head: "PRI * HTTP/1.1", want: protocolHTTP1, wantKnown: true},
		"anything else":     {head: "\x00", want: protocolHTTP1, wantKnown: true},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got, known := protocolOf([]byte(tc.head))
			if got != tc.want || known != tc.wantKnown {
				t.Errorf("protocolOf(%q) = %v, %v, want %v, %v", tc.head, got, known, tc.want, tc.wantKnown)
			}
		})
	}
}

// TestPrefaceInPieces has what a client says first arrive byte by byte.
func TestPrefaceInPieces(t *testing.T) {
	t.Parallel()
	f := start(t, startH2CApp(t, okApp), nil, nil)
	conn, reader := f.dial(t)
	for _, piece := range strings.SplitAfter("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", "") {
		fmt.Fprint(conn, piece)
		// Nobody can tell when the other end has looked at a byte.
		<-time.After(time.Millisecond)
	}
	frame := make([]byte, 9)
	if _, err := io.ReadFull(reader, frame); err != nil || frame[3] != 4 {
		t.Errorf("the server's first frame is %v, %v, want SETTINGS", frame, err)
	}
}

// TestPartOfAPrefaceIsNotWaitedFor holds that a client that ends there is let go.
func TestPartOfAPrefaceIsNotWaitedFor(t *testing.T) {
	t.Parallel()
	f := start(t, startH2CApp(t, okApp), nil, nil)
	conn, reader := f.dial(t)
	fmt.Fprint(conn, "PRI * HT")
	if err := conn.(*net.TCPConn).CloseWrite(); err != nil {
		t.Fatal(err)
	}
	if _, err := io.ReadAll(reader); err != nil {
		t.Errorf("the connection ended with %v, want an end within %v", err, patience)
	}
}

// TestSilentClientsAreLetGo holds the bound for what comes before a request, in each
// state of it.
func TestSilentClientsAreLetGo(t *testing.T) {
	t.Parallel()
	f := startBare(t, startH2CApp(t, okApp), nil, Options{Bounds: Bounds{ReadHeaderTimeout: 50 * time.Millisecond}})
	f.server.SetRules(rulesOf(t))
	for _, said := range []string{"", "P", "PRI * HTTP/2.0\r\n", "GET / HT", "GET / HTTP/1.1\r\nHost: a\r\n"} {
		conn, reader := f.dial(t)
		fmt.Fprint(conn, said)
		if _, err := io.ReadAll(reader); err != nil && !errors.Is(err, syscall.ECONNRESET) {
			t.Errorf("after %q the connection ended with %v, want an end within %v", said, err, patience)
		}
	}
}

// TestTLSPassesUntouched has an app that speaks TLS behind an intercepted port.
func TestTLSPassesUntouched(t *testing.T) {
	t.Parallel()
	hello, answer := "\x16\x03\x01\x00\x05hello", "\x16\x03"
	app := startTCPApp(t, func(conn net.Conn, reader *bufio.Reader) {
		got, _ := io.ReadAll(reader)
		fmt.Fprintf(conn, "%s%q", answer, got)
	})
	f := start(t, app, rulesOf(t, onePolicy()), refusing(time.Second))
	conn, reader := f.dial(t)
	fmt.Fprint(conn, hello)
	// The app answers only once it has seen the end of what it is sent.
	if err := conn.(*net.TCPConn).CloseWrite(); err != nil {
		t.Fatal(err)
	}
	if got, err := io.ReadAll(reader); err != nil || string(got) != fmt.Sprintf("%s%q", answer, hello) {
		t.Errorf("the app's answer is %q, %v, want what it was sent", got, err)
	}
	if got := metric(t, f, "penstock_not_http_connections_total"); got != "1" {
		t.Errorf("%s connections of TLS are counted, want 1", got)
	}
	if got := f.server.NotHTTP(); len(got) != 1 || got[0] != testAppPort {
		t.Errorf("NotHTTP = %v, want the app's port", got)
	}
}

// TestAppThatSpeaksNoTLSIsHTTP has a client that takes the app for another.
func TestAppThatSpeaksNoTLSIsHTTP(t *testing.T) {
	t.Parallel()
	f := start(t, startApp(t, okApp), nil, nil)
	if answer := f.exchange(t, "\x16\x03\x01\r\n\r\n"); !strings.HasPrefix(answer, "HTTP/1.1 400") {
		t.Errorf("the answer is %q, want the app's 400", answer)
	}
	if got := f.server.NotHTTP(); len(got) > 0 {
		t.Errorf("NotHTTP = %v, want none", got)
	}
}

// TestTLSToNobodyIsClosed has no app.
func TestTLSToNobodyIsClosed(t *testing.T) {
	t.Parallel()
	f := start(t, closedAddress(t), nil, nil)
	conn, reader := f.dial(t)
	fmt.Fprint(conn, "\x16")
	if got, _ := io.ReadAll(reader); len(got) > 0 {
		t.Errorf("the answer is %q, want none", got)
	}
}

// TestTLSEndsAtTheDeadline holds that a tunnel lives through a drain, and no longer
// than the shutdown timeout after its end.
func TestTLSEndsAtTheDeadline(t *testing.T) {
	t.Parallel()
	app := startTCPApp(t, func(conn net.Conn, reader *bufio.Reader) { _, _ = io.Copy(conn, reader) })
	f := startBare(t, app, nil, Options{Bounds: Bounds{ShutdownTimeout: 50 * time.Millisecond}})
	f.server.SetRules(rulesOf(t))
	conn, reader := f.dial(t)
	for _, said := range []string{"\x16\n", "more\n"} {
		fmt.Fprint(conn, said)
		if got, err := reader.ReadString('\n'); err != nil || got != said {
			t.Fatalf("the echo is %q, %v, want %q", got, err, said)
		}
		f.server.Drain()
	}
	if err := f.stop(); err != nil {
		t.Errorf("Run = %v, want nil", err)
	}
	if _, err := io.ReadAll(reader); err != nil {
		t.Errorf("the tunnel ended with %v", err)
	}
}

// startTCPApp runs an app that speaks no HTTP: it is given each connection.
func startTCPApp(t *testing.T, serve func(conn net.Conn, reader *bufio.Reader)) string {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		for {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			serve(conn, bufio.NewReader(conn))
			conn.Close()
		}
	}()
	t.Cleanup(func() {
		listener.Close()
		<-done
	})
	return listener.Addr().String()
}

// startH2CApp runs an app of net/http that speaks HTTP/1.1 and HTTP/2 without TLS.
func startH2CApp(t testing.TB, handler http.HandlerFunc) string {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	var protocols http.Protocols
	protocols.SetHTTP1(true)
	protocols.SetUnencryptedHTTP2(true)
	app := &http.Server{Handler: handler, Protocols: &protocols, ReadHeaderTimeout: patience}
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		_ = app.Serve(listener)
	}()
	t.Cleanup(func() {
		app.Close()
		<-ended
	})
	return listener.Addr().String()
}
