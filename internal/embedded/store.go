// Copyright The Penstock Authors.
// SPDX-License-Identifier: Apache-2.0

// Package embedded is a store inside the process, for trying things out: a small
// server that speaks the Redis protocol, keeps everything in memory and forgets
// it on exit. It is not replicated and not fast; production needs Redis. The
// manager serves it with --embedded-store.
package embedded

import (
	"fmt"

	"github.com/alicebob/miniredis/v2"
)

// Store is a running embedded store.
type Store struct {
	server *miniredis.Miniredis
	addr   string
}

// Start serves a store on a TCP address, host:port; port 0 takes a free one.
func Start(addr string) (*Store, error) {
	server := miniredis.NewMiniRedis()
	// Keys expire as the real time passes; by default they never would.
	server.ClockTTL(true)
	if err := server.StartAddr(addr); err != nil {
		return nil, fmt.Errorf("serve the embedded store on %q: %w; give a free host:port", addr, err)
	}
	return &Store{server: server, addr: server.Addr()}, nil
}

// Addr is where the store listens, or listened before Close: host:port.
func (s *Store) Addr() string { return s.addr }

// Close ends the store and its connections; its data is gone.
func (s *Store) Close() { s.server.Close() }
