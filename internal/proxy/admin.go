// Copyright The Penstock Authors.
// SPDX-License-Identifier: Apache-2.0

package proxy

import (
	"context"
	"io"
	"log/slog"
	"net"
	"net/http"

	"github.com/prometheus/client_golang/prometheus/promhttp"
)

// adminServer serves probes, metrics, and on loopback what helps to find out why.
type adminServer struct {
	http      *http.Server
	listeners []net.Listener
	// endRequests ends the contexts of all requests: a profile is as long as its client
	// asked for.
	endRequests context.CancelFunc
}

func newAdminServer(s *Server) *adminServer {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /healthz", func(w http.ResponseWriter, _ *http.Request) { writeState(w, http.StatusOK, "ok") })
	mux.HandleFunc("GET /readyz", s.serveReadiness)
	mux.HandleFunc("GET /probe/{name...}", serveProbe(s.options.Prober))
	s.addDebug(mux)
	mux.Handle("GET /metrics", promhttp.HandlerFor(s.metrics.Registry, promhttp.HandlerOpts{
		ErrorLog: slog.NewLogLogger(s.logger.Handler(), slog.LevelError),
	}))
	requests, endRequests := context.WithCancel(context.Background())
	return &adminServer{endRequests: endRequests, http: &http.Server{
		BaseContext: func(net.Listener) context.Context { return requests },
		Handler:     mux, ReadHeaderTimeout: s.options.Bounds.ReadHeaderTimeout, IdleTimeout: s.options.Bounds.IdleTimeout,
		ErrorLog: slog.NewLogLogger(s.logger.Handler(), slog.LevelDebug),
	}}
}

// serveReadiness says whether requests are to be sent here. It does not depend on
// the store: without it the app would be out of service, too.
func (s *Server) serveReadiness(w http.ResponseWriter, _ *http.Request) {
	ready, state := s.readiness()
	status := http.StatusServiceUnavailable
	if ready {
		status = http.StatusOK
	}
	writeState(w, status, state)
}

func (s *Server) readiness() (ready bool, state string) {
	switch {
	case s.draining.Load():
		return false, "draining"
	case !s.gate.isOpen():
		return false, "waiting for the first rules"
	case s.gate.current.Load() == nil:
		return true, "ok, without rules: none came in time"
	default:
		return true, "ok"
	}
}

func writeState(w http.ResponseWriter, status int, text string) {
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	w.WriteHeader(status)
	// A prober that has left needs no answer.
	_, _ = io.WriteString(w, text+"\n")
}
