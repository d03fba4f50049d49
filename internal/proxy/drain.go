// Copyright The Penstock Authors.
// SPDX-License-Identifier: Apache-2.0

package proxy

import (
	"context"
	"errors"
	"net"
	"net/url"
	"syscall"
	"time"
)

const (
	// drainProbeEvery is how often a draining server looks whether the app still
	// accepts connections.
	drainProbeEvery = 100 * time.Millisecond
	// drainProbeTimeout bounds one look.
	drainProbeTimeout = time.Second
)

// Drain begins the end of the pod's life and returns at once: from now on each
// answer closes its connection, so that clients go elsewhere, and readiness is
// withdrawn. A port's listeners stay open as long as the app accepts connections,
// and then close, so that callers are refused as they would be without us.
func (s *Server) Drain() { s.beginDrain() }

// closeWhenAppIsGone waits for a drain, then for the app's port to refuse, and
// then ends the port's server gracefully. It gives up when ctx ends.
func (s *Server) closeWhenAppIsGone(ctx context.Context, p *portServer) {
	select {
	case <-ctx.Done():
		return
	case <-s.drainBegun:
	}
	look := time.NewTicker(drainProbeEvery)
	defer look.Stop()
	for !refuses(ctx, p.upstream) {
		select {
		case <-ctx.Done():
			return
		case <-look.C:
		}
	}
	s.logger.Info("Port of the app is closed, closing its listeners", "port", p.port.AppPort)
	bounded, cancel := context.WithTimeout(context.WithoutCancel(ctx), s.options.Bounds.ShutdownTimeout)
	defer cancel()
	s.shutdownHTTP(bounded, p.http)
}

// refuses reports whether the app's port refuses connections. A timeout is no
// refusal: the app may be busy.
func refuses(ctx context.Context, upstream *url.URL) bool {
	dialer := net.Dialer{Timeout: drainProbeTimeout}
	conn, err := dialer.DialContext(ctx, "tcp", dialAddress(upstream))
	if err != nil {
		return errors.Is(err, syscall.ECONNREFUSED)
	}
	// It was opened only to see that it opens.
	_ = conn.Close()
	return false
}

// dialAddress is a URL's host with its port, that of the scheme if it names none.
func dialAddress(upstream *url.URL) string {
	port := upstream.Port()
	switch {
	case port != "":
	case upstream.Scheme == "https":
		port = "443"
	default:
		port = "80"
	}
	return net.JoinHostPort(upstream.Hostname(), port)
}
