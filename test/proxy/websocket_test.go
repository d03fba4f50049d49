// Copyright The Penstock Authors.
// SPDX-License-Identifier: Apache-2.0

package proxy

import (
	"bytes"
	"testing"

	"github.com/coder/websocket"

	"github.com/penstock-dev/penstock/test/proxyrun"
)

func testSockets(t *testing.T, sidecar *proxyrun.Proxy) {
	for name, test := range map[string]func(t *testing.T, socket *websocket.Conn){
		"text":  func(t *testing.T, socket *websocket.Conn) { echoes(t, socket, websocket.MessageText, []byte("hello")) },
		"empty": func(t *testing.T, socket *websocket.Conn) { echoes(t, socket, websocket.MessageBinary, nil) },
		"large": func(t *testing.T, socket *websocket.Conn) {
			echoes(t, socket, websocket.MessageBinary, bytes.Repeat([]byte("x"), 4<<20))
		},
		"subprotocol": testSubprotocol,
		"ping":        testPing,
		"close code":  testCloseCode,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			socket, answer, err := websocket.Dial(patient(t), sidecar.URL()+"/socket", &websocket.DialOptions{Subprotocols: []string{"echo"}})
			if err != nil {
				t.Fatal(err)
			}
			defer func() { _ = socket.CloseNow() }()
			if answer.Header.Get("RateLimit") == "" {
				t.Error("the answer that opens it tells nothing of limits")
			}
			socket.SetReadLimit(16 << 20)
			test(t, socket)
		})
	}
}

func echoes(t *testing.T, socket *websocket.Conn, kind websocket.MessageType, message []byte) {
	t.Helper()
	if err := socket.Write(patient(t), kind, message); err != nil {
		t.Fatal(err)
	}
	gotKind, got, err := socket.Read(patient(t))
	if err != nil || gotKind != kind || !bytes.Equal(got, message) {
		t.Errorf("the echo is %d bytes of kind %v, %v, want %d of %v", len(got), gotKind, err, len(message), kind)
	}
}

func testSubprotocol(t *testing.T, socket *websocket.Conn) {
	if got := socket.Subprotocol(); got != "echo" {
		t.Errorf("the subprotocol is %q, want echo", got)
	}
}

func testPing(t *testing.T, socket *websocket.Conn) {
	ctx := socket.CloseRead(patient(t))
	if err := socket.Ping(ctx); err != nil {
		t.Error(err)
	}
}

func testCloseCode(t *testing.T, socket *websocket.Conn) {
	if err := socket.Write(patient(t), websocket.MessageText, []byte("end")); err != nil {
		t.Fatal(err)
	}
	_, _, err := socket.Read(patient(t))
	if got := websocket.CloseStatus(err); got != 4321 {
		t.Errorf("it was closed with %v, want 4321", err)
	}
}
