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
	for _, address := range s.options.Admin {
		listener, err := config.Listen(ctx, "tcp", address)
		if err != nil {
			s.closeListeners()
			return fmt.Errorf("listen for probes and metrics: %w", err)
		}
		s.admin.listeners = append(s.admin.listeners, listener)
	}
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
	for _, listener := range s.admin.listeners {
		_ = listener.Close()
	}
	s.admin.listeners = nil
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

// AdminAddresses are where probes and metrics are served, after Listen.
func (s *Server) AdminAddresses() []net.Addr {
	var addresses []net.Addr
	for _, listener := range s.admin.listeners {
		addresses = append(addresses, listener.Addr())
	}
	return addresses
}

// isListening reports whether Listen was called.
func (s *Server) isListening() bool {
	for _, p := range s.ports {
		if len(p.listeners) > 0 {
			return true
		}
	}
	return len(s.admin.listeners) > 0
}
