// Copyright The Penstock Authors.
// SPDX-License-Identifier: Apache-2.0

package proxy

import (
	"context"
	"errors"
	"log/slog"
	"net"
	"net/http"
	"net/url"
	"sync"
	"sync/atomic"
	"syscall"
)

// portServer is one intercepted port with its listeners.
type portServer struct {
	port      Port
	upstream  *url.URL
	transport *protocolTransport
	handler   *portHandler
	listeners []net.Listener
	// accepting counts the listeners that accept.
	accepting sync.WaitGroup
	front     *front
	// retiring counts the servers of HTTP/2 that a drain has replaced.
	retiring sync.WaitGroup
	// refused wakes who waits for the app's port to refuse connections.
	refused chan struct{}
	// servesTLS says that the app has answered a client in TLS.
	servesTLS atomic.Bool
}

func (s *Server) newPort(port Port, upstream *url.URL) *portServer {
	p := &portServer{port: port, upstream: upstream, refused: make(chan struct{}, 1), transport: s.transport.forPort(upstream, s.options.Bounds)}
	p.handler = &portHandler{server: s, appPort: port.AppPort, appHost: upstream.Host}
	p.handler.forward = newForwarder(upstream, p.transport, s.options.PreserveForwardedFor,
		func(w http.ResponseWriter, request *http.Request, err error) { s.forwardFailed(p, w, request, err) }, s.logger)
	p.front = &front{bounds: s.options.Bounds, silent: map[*net.TCPConn]struct{}{}}
	p.front.http1 = s.newHTTPServer(p, plainProtocols())
	return p
}

// newHTTPServer makes a server for some of a port's connections.
func (s *Server) newHTTPServer(p *portServer, protocols *http.Protocols) *http.Server {
	bounds := s.options.Bounds
	return &http.Server{
		Handler:           p.handler,
		ReadHeaderTimeout: bounds.ReadHeaderTimeout,
		IdleTimeout:       bounds.IdleTimeout,
		MaxHeaderBytes:    bounds.MaxHeaderBytes,
		Protocols:         protocols,
		HTTP2:             bounds.http2Config(),
		// OPTIONS * is the app's to answer.
		DisableGeneralOptionsHandler: true,
		ErrorLog:                     slog.NewLogLogger(s.logger.Handler(), slog.LevelDebug),
	}
}

// forwardFailed answers for an app that did not. One whose port refuses while the
// pod's life ends is gone: its callers are to see a closed connection, as they would
// without us, and not an answer that they would pass on. A caller of HTTP/2 cannot be
// shown that without the others on its connection.
func (s *Server) forwardFailed(p *portServer, w http.ResponseWriter, request *http.Request, err error) {
	if s.draining.Load() && errors.Is(err, syscall.ECONNREFUSED) {
		p.noteRefusal()
		if request.ProtoMajor == 1 {
			panic(http.ErrAbortHandler)
		}
	}
	if failure := answerForwardFailure(w, request, err); failure != "" {
		s.appFailed(p.port.AppPort, failure)
	}
}

// NotHTTP are the ports at which the app has answered clients in TLS since the start,
// so that nothing was limited. That clients spoke it alone says nothing of the app.
func (s *Server) NotHTTP() []int32 {
	var ports []int32
	for _, p := range s.ports {
		if p.servesTLS.Load() {
			ports = append(ports, p.port.AppPort)
		}
	}
	return ports
}

// noteRefusal tells that the app's port refused a connection.
func (p *portServer) noteRefusal() {
	select {
	case p.refused <- struct{}{}:
	default: // it was told already
	}
}

// serve runs the port's servers and accepts connections until they are shut down;
// run has each of these parts run. Requests and tunnels live in the context.
func (s *Server) serve(requests context.Context, p *portServer, run func(func() error)) {
	base := func(net.Listener) context.Context { return requests }
	p.front.http1.BaseContext = base
	p.front.conns = newHandover()
	p.front.passThrough = func(conn *net.TCPConn) {
		s.metrics.notHTTP.Inc()
		s.tunnels.Go(func() { p.passThrough(requests, conn) })
	}
	p.front.newHTTP2 = func() *http2Server {
		server := &http2Server{http: s.newHTTPServer(p, http2Protocols()), conns: newHandover()}
		server.http.BaseContext = base
		run(func() error { return server.http.Serve(server.conns) })
		return server
	}
	p.front.http2.Store(p.front.newHTTP2())
	run(func() error { return p.front.http1.Serve(p.front.conns) })
	for _, listener := range p.listeners {
		p.accepting.Add(1)
		run(func() error {
			defer p.accepting.Done()
			return p.front.accept(listener)
		})
	}
}

// stopAccepting closes the listeners and returns when no connection is accepted any
// more.
func (p *portServer) stopAccepting() {
	for _, listener := range p.listeners {
		// It may have been closed before, when the app's port was.
		_ = listener.Close()
	}
	p.accepting.Wait()
}
