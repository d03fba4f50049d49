// Copyright The Penstock Authors.
// SPDX-License-Identifier: Apache-2.0

package proxy

import (
	"context"
	"errors"
	"fmt"
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

	cut, cutOff := context.WithCancel(context.WithoutCancel(ctx))
	defer cutOff()

	var group sync.WaitGroup
	run := func(part func() error) {
		group.Go(func() {
			if err := part(); !isClosed(err) {
				stopServing(err)
			}
		})
	}
	for _, p := range s.ports {
		s.serve(requests, p, run)
		group.Go(func() { s.drainPort(serving, cut, p) })
	}
	for _, listener := range s.admin.listeners {
		run(func() error { return s.admin.http.Serve(listener) })
	}
	<-serving.Done()
	s.shutdown(context.WithoutCancel(ctx), cutOff, endRequests)
	group.Wait()
	if ctx.Err() == nil {
		return fmt.Errorf("serve: %w", context.Cause(serving))
	}
	return nil
}

// shutdown completes what is under way until the shutdown timeout: answers, streams,
// and then tunnels. It cuts off the rest.
func (s *Server) shutdown(ctx context.Context, cutOff, endRequests func()) {
	s.beginDrain()
	bounded, cancel := context.WithTimeout(ctx, s.options.Bounds.ShutdownTimeout)
	defer cancel()
	defer context.AfterFunc(bounded, cutOff)()
	var group sync.WaitGroup
	for _, p := range s.ports {
		group.Go(func() {
			s.shutdownPort(bounded, p)
			p.retiring.Wait()
		})
	}
	group.Wait()
	ended := make(chan struct{})
	go func() {
		s.tunnels.Wait()
		close(ended)
	}()
	select {
	case <-ended:
	case <-bounded.Done():
		endRequests()
		<-ended
	}
	for _, p := range s.ports {
		p.transport.CloseIdleConnections()
	}
	s.admin.endRequests()
	err := s.admin.http.Shutdown(bounded)
	if err != nil {
		// The connections are being given up: an error changes nothing.
		_ = s.admin.http.Close()
	}
	s.logCutOff(err)
}

// shutdownPort ends a port's listeners and servers, and cuts what has not ended by
// itself in time.
func (s *Server) shutdownPort(ctx context.Context, p *portServer) {
	p.stopAccepting()
	s.logCutOff(p.front.shutdown(ctx))
}

func (s *Server) logCutOff(err error) {
	if err != nil {
		s.logger.Warn("Answers under way were cut off at the end", "error", err)
	}
}

// isClosed tells the expected end of a server from a failure.
func isClosed(err error) bool { return err == nil || errors.Is(err, http.ErrServerClosed) }
