// Copyright The Penstock Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/coder/websocket"
	"google.golang.org/grpc"
	"google.golang.org/grpc/health"
	healthpb "google.golang.org/grpc/health/grpc_health_v1"
)

func TestHoldReadsUntilTheEnd(t *testing.T) {
	t.Parallel()
	const sent = 3
	streams := 0
	begun := func() { streams++ }
	socket := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		conn, err := websocket.Accept(w, r, nil)
		if err != nil {
			return
		}
		defer func() { _ = conn.CloseNow() }()
		for range sent {
			_ = conn.Write(r.Context(), websocket.MessageText, []byte("tick"))
		}
	}))
	defer socket.Close()
	got, err := hold(t.Context(), openWebSocket(strings.Replace(socket.URL, "http", "ws", 1)), begun)
	if err != nil || got.Messages != sent || got.Ended == "" {
		t.Errorf("a WebSocket: %+v, %v, want %d messages and why it ended", got, err, sent)
	}

	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	server, service := grpc.NewServer(), health.NewServer()
	healthpb.RegisterHealthServer(server, service)
	go func() { _ = server.Serve(listener) }()
	got, err = hold(t.Context(), func(ctx context.Context) (func() error, error) {
		next, err := openWatch(listener.Addr().String())(ctx)
		count := 0
		return func() error {
			if count++; count == 2 {
				server.Stop()
			}
			return next()
		}, err
	}, begun)
	if err != nil || streams != 2 || got.Messages != 1 || got.Ended == "" {
		t.Errorf("a gRPC stream: %+v, %v, want one message and why it ended", got, err)
	}
}

func TestHoldFailsWithoutAStream(t *testing.T) {
	t.Parallel()
	server := httptest.NewServer(http.NotFoundHandler())
	defer server.Close()
	if _, err := hold(t.Context(), openWebSocket(server.URL), func() {}); err == nil {
		t.Error("no error where there is no WebSocket")
	}
}
