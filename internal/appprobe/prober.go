// Copyright The Penstock Authors.
// SPDX-License-Identifier: Apache-2.0

package appprobe

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"strconv"
	"sync"
)

// ErrUnknown says that there is no probe of a name.
var ErrUnknown = errors.New("no probe of this name is declared")

// Prober asks an app. Several askers of one probe share one attempt, so that nobody
// can make it a burden for the app. Each attempt has connections of its own.
type Prober struct {
	host   string
	probes Set
	http   *http.Transport
	grpc   *http.Transport

	mu      sync.Mutex
	running map[string]*attempt
}

// attempt is a probe under way.
type attempt struct {
	done chan struct{}
	err  error
}

// NewProber returns what performs probes of the app at an address, which has no port.
func NewProber(host string, probes Set) *Prober {
	return &Prober{host: host, probes: probes, http: newHTTPTransport(), grpc: newGRPCTransport(), running: make(map[string]*attempt)}
}

// Probe performs a probe. Its error says why the app does not pass, or is ErrUnknown,
// or that ctx ended first; the attempt then goes on for others.
func (p *Prober) Probe(ctx context.Context, name string) error {
	probe, known := p.probes[name]
	if !known {
		return ErrUnknown
	}
	shared := p.join(ctx, name, &probe)
	select {
	case <-shared.done:
		return shared.err
	case <-ctx.Done():
		return ctx.Err()
	}
}

// join returns the attempt that is under way, or a new one.
func (p *Prober) join(ctx context.Context, name string, probe *Probe) *attempt {
	p.mu.Lock()
	defer p.mu.Unlock()
	if shared := p.running[name]; shared != nil {
		return shared
	}
	begun := &attempt{done: make(chan struct{})}
	p.running[name] = begun
	bounded, cancel := context.WithTimeout(context.WithoutCancel(ctx), probe.timeout())
	go func() {
		defer cancel()
		begun.err = p.perform(bounded, probe)
		p.mu.Lock()
		delete(p.running, name)
		p.mu.Unlock()
		close(begun.done)
	}()
	return begun
}

func (p *Prober) perform(ctx context.Context, probe *Probe) error {
	switch {
	case probe.HTTPGet != nil:
		return p.askHTTP(ctx, probe.HTTPGet)
	case probe.GRPC != nil:
		return p.askGRPC(ctx, probe.GRPC)
	default:
		return p.connect(ctx, probe.TCPSocket.Port)
	}
}

// connect is the probe of a socket: that it opens is all.
func (p *Prober) connect(ctx context.Context, port int) error {
	var dialer net.Dialer
	conn, err := dialer.DialContext(ctx, "tcp", p.address(port))
	if err != nil {
		return fmt.Errorf("connect: %w", err)
	}
	// It was opened only to see that it opens.
	_ = conn.Close()
	return nil
}

func (p *Prober) address(port int) string { return net.JoinHostPort(p.host, strconv.Itoa(port)) }
