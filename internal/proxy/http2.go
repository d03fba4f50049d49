// Copyright The Penstock Authors.
// SPDX-License-Identifier: Apache-2.0

package proxy

import (
	"context"
	"net"
	"net/http"
	"sync"
	"sync/atomic"
	"time"
)

// lingerTimeout bounds how long a connection of HTTP/2 stays open after its server
// has told the client to go. It is above the second that net/http gives a client to
// read that.
const lingerTimeout = 2 * time.Second

// http2Server serves connections of HTTP/2 with prior knowledge. It can tell all of
// them at once to go while those that come later have another server.
type http2Server struct {
	http  *http.Server
	conns *handover
	// isEnding says that the server is being shut down.
	isEnding atomic.Bool
	// open counts the connections that are not closed.
	open sync.WaitGroup
}

// http2Protocols is HTTP/2 without TLS and nothing else.
func http2Protocols() *http.Protocols {
	protocols := &http.Protocols{}
	protocols.SetUnencryptedHTTP2(true)
	return protocols
}

// http2Config are the bounds of connections of HTTP/2 to clients.
func (b Bounds) http2Config() *http.HTTP2Config {
	return &http.HTTP2Config{
		MaxConcurrentStreams: b.MaxConcurrentStreams, MaxReadFrameSize: b.MaxReadFrameSize,
		MaxReceiveBufferPerConnection: b.MaxReceiveBufferPerConnection, MaxReceiveBufferPerStream: b.MaxReceiveBufferPerStream,
		SendPingTimeout: b.PingInterval, PingTimeout: b.PingTimeout,
	}
}

// give hands a connection over, or reports false if the server takes none any more.
func (s *http2Server) give(conn *net.TCPConn) bool {
	s.open.Add(1)
	if s.conns.give(&http2Conn{TCPConn: conn, server: s}) {
		return true
	}
	s.open.Done()
	return false
}

// shutdown tells all clients to go and waits for their streams until the context
// ends; then it cuts them off and returns the context's error.
func (s *http2Server) shutdown(ctx context.Context) error {
	s.isEnding.Store(true)
	err := s.http.Shutdown(ctx)
	if err != nil {
		s.isEnding.Store(false)
		// The connections are being given up: an error changes nothing.
		_ = s.http.Close()
	}
	s.open.Wait()
	return err
}

// http2Conn is a connection that is not closed at the first call when its server
// ends: net/http closes one as soon as it has no stream, also before it has written
// GOAWAY or what was last in its buffer, and the client could not
// know which of its requests were lost.
type http2Conn struct {
	*net.TCPConn
	server   *http2Server
	lingers  atomic.Bool
	closing  sync.Once
	closeErr error
}

// Close closes the connection, or within lingerTimeout has it closed by the second
// call, which comes once GOAWAY was sent and the client has had time to read it.
func (c *http2Conn) Close() error {
	if c.server.isEnding.Load() && c.lingers.CompareAndSwap(false, true) {
		time.AfterFunc(lingerTimeout, func() { _ = c.closeNow() })
		return nil
	}
	return c.closeNow()
}

func (c *http2Conn) closeNow() error {
	c.closing.Do(func() {
		c.closeErr = c.TCPConn.Close()
		c.server.open.Done()
	})
	return c.closeErr
}
