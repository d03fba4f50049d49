// Copyright The Penstock Authors.
// SPDX-License-Identifier: Apache-2.0

package proxy

import (
	"context"
	"fmt"
	"net"
)

// Listen opens all listeners, so that an address in use shows before anything
// else happens. Run opens them if nobody did.
func (s *Server) Listen(ctx context.Context) error {
	var config net.ListenConfig
	for _, p := range s.ports {
		for _, address := range p.port.Listen {
			listener, err := config.Listen(ctx, "tcp", address)
			if err != nil {
				s.closeListeners()
				return fmt.Errorf("listen for port %d of the app: %w", p.port.AppPort, err)
			}
			p.listeners = append(p.listeners, listener)
		}
	}
	if s.options.Admin == "" {
		return nil
	}
	listener, err := config.Listen(ctx, "tcp", s.options.Admin)
	if err != nil {
		s.closeListeners()
		return fmt.Errorf("listen for probes and metrics: %w", err)
	}
	s.admin.listener = listener
	return nil
}

func (s *Server) closeListeners() {
	for _, p := range s.ports {
		for _, listener := range p.listeners {
			// Nothing was accepted yet, so nothing can be lost.
			_ = listener.Close()
		}
		p.listeners = nil
	}
}

// Addresses are where the server listens for a port of the app, after Listen.
func (s *Server) Addresses(appPort int32) []net.Addr {
	var addresses []net.Addr
	for _, p := range s.ports {
		if p.port.AppPort != appPort {
			continue
		}
		for _, listener := range p.listeners {
			addresses = append(addresses, listener.Addr())
		}
	}
	return addresses
}

// AdminAddress is where probes and metrics are served, after Listen; nil if
// nowhere.
func (s *Server) AdminAddress() net.Addr {
	if s.admin.listener == nil {
		return nil
	}
	return s.admin.listener.Addr()
}

// isListening reports whether Listen was called.
func (s *Server) isListening() bool {
	for _, p := range s.ports {
		if len(p.listeners) > 0 {
			return true
		}
	}
	return s.admin.listener != nil
}
