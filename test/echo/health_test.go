// Copyright The Penstock Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/coder/websocket"
	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
	healthpb "google.golang.org/grpc/health/grpc_health_v1"
)

func TestFailShowsInEveryWay(t *testing.T) {
	t.Parallel()
	app := newAppHealth()
	defer app.stop()
	grpcListener, tcpListener := listen(t), listen(t)
	app.serveGRPC(grpcListener)
	app.serveTCP(tcpListener)
	server := httptest.NewServer(newHandler("echo-1", app))
	defer server.Close()
	client, err := grpc.NewClient(grpcListener.Addr().String(), grpc.WithTransportCredentials(insecure.NewCredentials()))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = client.Close() }()

	type state struct{ http, grpc, tcp bool }
	look := func() state {
		answer, err := http.Get(server.URL + "/healthz")
		if err != nil {
			t.Fatal(err)
		}
		_ = answer.Body.Close()
		reply, err := healthpb.NewHealthClient(client).Check(t.Context(), &healthpb.HealthCheckRequest{})
		if err != nil {
			t.Fatal(err)
		}
		conn, err := net.Dial("tcp", tcpListener.Addr().String())
		if err == nil {
			_ = conn.Close()
		}
		return state{answer.StatusCode == http.StatusOK, reply.GetStatus() == healthpb.HealthCheckResponse_SERVING, err == nil}
	}
	if got, want := look(), (state{true, true, true}); got != want {
		t.Errorf("at first: %+v, want %+v", got, want)
	}
	answer, err := http.Get(server.URL + "/fail")
	if err != nil {
		t.Fatal(err)
	}
	_ = answer.Body.Close()
	if got, want := look(), (state{}); got != want {
		t.Errorf("after /fail: %+v, want %+v", got, want)
	}
}

func TestSocketTicks(t *testing.T) {
	t.Parallel()
	app := newAppHealth()
	defer app.stop()
	server := httptest.NewServer(newHandler("echo-1", app))
	defer server.Close()
	socket, answer, err := websocket.Dial(t.Context(), strings.Replace(server.URL, "http", "ws", 1)+"/socket", nil)
	if err != nil {
		t.Fatal(err)
	}
	if answer.Body != nil {
		defer func() { _ = answer.Body.Close() }()
	}
	defer func() { _ = socket.CloseNow() }()
	for range 2 {
		if _, text, err := socket.Read(t.Context()); err != nil || string(text) != "tick" {
			t.Fatalf("read %q, %v, want a tick", text, err)
		}
	}
}

func listen(t *testing.T) net.Listener {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = listener.Close() })
	return listener
}
