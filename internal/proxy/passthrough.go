// Copyright The Penstock Authors.
// SPDX-License-Identifier: Apache-2.0

package proxy

import (
	"context"
	"errors"
	"io"
	"net"
	"sync"
	"syscall"
)

// passThrough connects a client that speaks TLS with the app, untouched both ways:
// what is inside cannot be seen, so it cannot be limited, and it is reported. It ends
// with both of them, or with the context.
func (p *portServer) passThrough(ctx context.Context, client *net.TCPConn) {
	defer func() { _ = client.Close() }()
	dialer := net.Dialer{Timeout: p.front.bounds.DialTimeout}
	conn, err := dialer.DialContext(ctx, "tcp", dialAddress(p.upstream))
	if err != nil {
		if errors.Is(err, syscall.ECONNREFUSED) {
			p.noteRefusal()
		}
		return
	}
	app, ok := conn.(*net.TCPConn)
	if !ok {
		_ = conn.Close()
		return
	}
	defer func() { _ = app.Close() }()
	cut := func() {
		_ = client.Close()
		_ = app.Close()
	}
	defer context.AfterFunc(ctx, cut)()
	var group sync.WaitGroup
	group.Go(func() { pour(app, client, cut) })
	group.Go(func() {
		if spoken, err := awaitProtocol(app); err == nil && spoken == protocolTLS {
			p.servesTLS.Store(true)
		}
		pour(client, app, cut)
	})
	group.Wait()
}

// pour copies one direction to its end, which the other side sees as such; a
// connection that broke ends both directions.
func pour(to, from *net.TCPConn, cut func()) {
	_, err := io.Copy(to, from)
	if err == nil {
		err = to.CloseWrite()
	}
	if err != nil {
		cut()
	}
}
