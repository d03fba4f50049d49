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
	"sync/atomic"
	"syscall"
	"time"
)

const (
	// firstAcceptRetry and lastAcceptRetry bound the waits after a connection could
	// not be accepted, as when no descriptor is left.
	firstAcceptRetry = 5 * time.Millisecond
	lastAcceptRetry  = time.Second
	// lastWordTimeout is how long a connection that was accepted just before the end
	// has to say what it wants.
	lastWordTimeout = 500 * time.Millisecond
)

// front accepts the connections of one port and gives each to the server for what
// its client speaks.
type front struct {
	bounds Bounds
	http1  *http.Server
	conns  *handover
	http2  atomic.Pointer[http2Server]
	// newHTTP2 starts a server.
	newHTTP2 func() *http2Server
	// passThrough has a connection of TLS.
	passThrough func(*net.TCPConn)

	// looking counts the connections that have not said yet what they speak.
	looking sync.WaitGroup
	mu      sync.Mutex
	silent  map[*net.TCPConn]struct{}
	isEnded bool
}

// accept serves a listener until it is closed.
func (f *front) accept(listener net.Listener) error {
	retry := firstAcceptRetry
	for {
		conn, err := listener.Accept()
		switch {
		case errors.Is(err, net.ErrClosed):
			return nil
		case isExhaustion(err):
			// What others give back will do; giving up would end the app's service.
			<-time.After(retry)
			retry = min(2*retry, lastAcceptRetry)
			continue
		case err != nil:
			return fmt.Errorf("accept at %s: %w", listener.Addr(), err)
		}
		retry = firstAcceptRetry
		if tcp, ok := conn.(*net.TCPConn); ok {
			f.looking.Go(func() { f.direct(tcp) })
		}
	}
}

// isExhaustion reports whether accepting failed for want of something that comes
// back, or because a client left.
func isExhaustion(err error) bool {
	for _, passing := range []error{syscall.EMFILE, syscall.ENFILE, syscall.ENOBUFS, syscall.ENOMEM, syscall.ECONNABORTED, syscall.EINTR} {
		if errors.Is(err, passing) {
			return true
		}
	}
	return false
}

// direct waits for a client's first bytes and gives the connection away.
func (f *front) direct(conn *net.TCPConn) {
	f.noteSilent(conn)
	spoken, err := awaitProtocol(conn)
	f.forgetSilent(conn)
	if err == nil {
		err = conn.SetReadDeadline(time.Time{})
	}
	if err != nil || !f.give(conn, spoken) {
		// It said nothing in time, or comes after the end.
		_ = conn.Close()
	}
}

// give reports whether there is a server for the connection.
func (f *front) give(conn *net.TCPConn, spoken protocol) bool {
	switch spoken {
	case protocolTLS:
		f.passThrough(conn)
		return true
	case protocolHTTP2:
		server := f.http2.Load()
		if server.give(conn) {
			return true
		}
		// It was replaced just now, or all has ended.
		return f.http2.Load() != server && f.http2.Load().give(conn)
	}
	return f.conns.give(conn)
}

func (f *front) noteSilent(conn *net.TCPConn) {
	f.mu.Lock()
	defer f.mu.Unlock()
	patience := f.bounds.ReadHeaderTimeout
	if f.isEnded {
		patience = lastWordTimeout
	}
	f.silent[conn] = struct{}{}
	// Without a deadline waiting would never end; an error shows in waiting too.
	_ = conn.SetReadDeadline(time.Now().Add(patience))
}

func (f *front) forgetSilent(conn *net.TCPConn) {
	f.mu.Lock()
	defer f.mu.Unlock()
	delete(f.silent, conn)
}

// renewHTTP2 has a fresh server for the connections of HTTP/2 that are still to come,
// and retires the one before. After the end it does nothing.
func (f *front) renewHTTP2(retire func(*http2Server)) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if !f.isEnded {
		retire(f.http2.Swap(f.newHTTP2()))
	}
}

// end is for when no listener accepts any more: it waits shortly for what silent
// connections want, so that a request that is on its way is served.
func (f *front) end() {
	f.mu.Lock()
	f.isEnded = true
	deadline := time.Now().Add(lastWordTimeout)
	for conn := range f.silent {
		_ = conn.SetReadDeadline(deadline)
	}
	f.mu.Unlock()
	f.looking.Wait()
}

// shutdown ends all servers gracefully; what is under way when the context ends is
// cut off, and an error says so.
func (f *front) shutdown(ctx context.Context) error {
	f.end()
	var group sync.WaitGroup
	var errHTTP1, errHTTP2 error
	group.Go(func() {
		if errHTTP1 = f.http1.Shutdown(ctx); errHTTP1 != nil {
			// The connections are being given up: an error changes nothing.
			_ = f.http1.Close()
		}
	})
	group.Go(func() { errHTTP2 = f.http2.Load().shutdown(ctx) })
	group.Wait()
	return errors.Join(errHTTP1, errHTTP2)
}
