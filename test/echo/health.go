// Copyright The Penstock Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"net"
	"net/http"
	"sync"
	"sync/atomic"
	"time"

	"github.com/coder/websocket"
	"google.golang.org/grpc"
	"google.golang.org/grpc/health"
	healthpb "google.golang.org/grpc/health/grpc_health_v1"
)

// tickEvery is how often a WebSocket hears of the app.
const tickEvery = 200 * time.Millisecond

// appHealth is whether the app says that it is well, in each way in which a kubelet
// may ask.
type appHealth struct {
	failed  atomic.Bool
	service *health.Server
	server  *grpc.Server

	mu  sync.Mutex
	tcp net.Listener
}

func newAppHealth() *appHealth {
	h := &appHealth{service: health.NewServer(), server: grpc.NewServer()}
	healthpb.RegisterHealthServer(h.server, h.service)
	return h
}

// fail makes the app unhealthy for good.
func (h *appHealth) fail() {
	h.failed.Store(true)
	h.service.SetServingStatus("", healthpb.HealthCheckResponse_NOT_SERVING)
	h.closeTCP()
}

func (h *appHealth) serveHTTP(w http.ResponseWriter, _ *http.Request) {
	if h.failed.Load() {
		w.WriteHeader(http.StatusServiceUnavailable)
	}
}

// serveGRPC serves until stop.
func (h *appHealth) serveGRPC(listener net.Listener) {
	// It ends with an error only when the listener does, with which the app does.
	go func() { _ = h.server.Serve(listener) }()
}

// serveTCP takes connections and ends them at once, until fail or stop.
func (h *appHealth) serveTCP(listener net.Listener) {
	h.mu.Lock()
	h.tcp = listener
	h.mu.Unlock()
	go func() {
		for {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			_ = conn.Close()
		}
	}()
}

func (h *appHealth) closeTCP() {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.tcp != nil {
		_ = h.tcp.Close()
	}
}

func (h *appHealth) stop() {
	h.closeTCP()
	h.server.Stop()
}

// serveSocket ticks until the client or the app has gone.
func serveSocket(w http.ResponseWriter, request *http.Request) {
	socket, err := websocket.Accept(w, request, nil)
	if err != nil {
		return // it has been answered
	}
	defer func() { _ = socket.CloseNow() }()
	ctx := socket.CloseRead(request.Context())
	tick := time.NewTicker(tickEvery)
	defer tick.Stop()
	for {
		if err := socket.Write(ctx, websocket.MessageText, []byte("tick")); err != nil {
			return
		}
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
	}
}
