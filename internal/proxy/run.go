// Copyright The Penstock Authors.
// SPDX-License-Identifier: Apache-2.0

package proxy

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"sync"
	"time"
)

// Run serves until ctx ends, and then ends gracefully: answers under way are
// completed within Bounds.ShutdownTimeout. It returns nil after that, or the
// error that made serving impossible.
func (s *Server) Run(ctx context.Context) error {
	if !s.isListening() {
		if err := s.Listen(ctx); err != nil {
			return err
		}
	}
	waiting := time.AfterFunc(s.options.NoRulesWait, s.gate.open)
	defer waiting.Stop()
	requests, endRequests := context.WithCancel(context.WithoutCancel(ctx))
	defer endRequests()
	serving, stopServing := context.WithCancelCause(ctx)
	defer stopServing(nil)

	var group sync.WaitGroup
	serve := func(server *http.Server, listener net.Listener) {
		group.Go(func() {
			if err := server.Serve(listener); !isClosed(err) {
				stopServing(fmt.Errorf("serve %s: %w", listener.Addr(), err))
			}
		})
	}
	for _, p := range s.ports {
		p.http.BaseContext = func(net.Listener) context.Context { return requests }
		for _, listener := range p.listeners {
			serve(p.http, listener)
		}
		group.Go(func() { s.closeWhenAppIsGone(serving, p) })
	}
	for _, listener := range s.admin.listeners {
		serve(s.admin.http, listener)
	}
	<-serving.Done()
	s.shutdown(context.WithoutCancel(ctx), endRequests)
	group.Wait()
	if ctx.Err() == nil {
		return context.Cause(serving)
	}
	return nil
}

// shutdown completes the answers under way, then ends WebSockets, then the rest.
func (s *Server) shutdown(ctx context.Context, endRequests func()) {
	s.beginDrain()
	bounded, cancel := context.WithTimeout(ctx, s.options.Bounds.ShutdownTimeout)
	defer cancel()
	var group sync.WaitGroup
	for _, p := range s.ports {
		group.Go(func() { s.shutdownHTTP(bounded, p.http) })
	}
	group.Wait()
	endRequests()
	s.tunnels.Wait()
	s.transport.CloseIdleConnections()
	s.shutdownHTTP(bounded, s.admin.http)
}

// shutdownHTTP cuts what has not ended by itself in time.
func (s *Server) shutdownHTTP(ctx context.Context, server *http.Server) {
	if err := server.Shutdown(ctx); err != nil {
		s.logger.Warn("Answers under way were cut off at the end", "error", err)
		// The connections are being given up: an error changes nothing.
		_ = server.Close()
	}
}

// isClosed tells the expected end of a server from a failure.
func isClosed(err error) bool { return err == nil || errors.Is(err, http.ErrServerClosed) }
