// Copyright The Penstock Authors.
// SPDX-License-Identifier: Apache-2.0

package proxy

import (
	"net"
	"sync"
)

// handover is the listener of a server whose connections were accepted and looked at
// before.
type handover struct {
	conns  chan net.Conn
	closed chan struct{}
	close  func()
}

var _ net.Listener = (*handover)(nil)

func newHandover() *handover {
	h := &handover{conns: make(chan net.Conn), closed: make(chan struct{})}
	h.close = sync.OnceFunc(func() { close(h.closed) })
	return h
}

// give hands a connection over. It reports false if the server takes none any more.
func (h *handover) give(conn net.Conn) bool {
	select {
	case h.conns <- conn:
		return true
	case <-h.closed:
		return false
	}
}

// Accept returns the next connection that is handed over.
func (h *handover) Accept() (net.Conn, error) {
	select {
	case conn := <-h.conns:
		return conn, nil
	case <-h.closed:
		return nil, net.ErrClosed
	}
}

// Close ends Accept and give; it has no error.
func (h *handover) Close() error {
	h.close()
	return nil
}

// Addr is empty: the connections were accepted at any of the port's addresses.
func (h *handover) Addr() net.Addr { return &net.TCPAddr{} }
