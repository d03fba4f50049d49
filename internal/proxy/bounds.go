// Copyright The Penstock Authors.
// SPDX-License-Identifier: Apache-2.0

package proxy

import (
	"cmp"
	"time"
)

// Bounds are what no client and no app may take more of. The zero value of a field
// is its default; nothing here bounds how long a stream or an answer may last.
type Bounds struct {
	// ReadHeaderTimeout ends clients that send a header byte by byte; 30 s.
	ReadHeaderTimeout time.Duration
	// IdleTimeout is how long a connection may be without requests; 11 minutes. It is
	// above the 600 s for which load balancers keep an idle connection: it is for
	// them to close it, or a request would be lost.
	IdleTimeout time.Duration
	// MaxHeaderBytes is how long the header of a request may be, request line
	// included; 64 KiB.
	MaxHeaderBytes int

	// MaxConcurrentStreams is how many requests an HTTP/2 connection may have under
	// way; 100.
	MaxConcurrentStreams int
	// MaxReadFrameSize is the longest HTTP/2 frame that is read, in bytes; 16 KiB,
	// the least that the protocol allows.
	MaxReadFrameSize int
	// MaxReceiveBufferPerConnection is how much of bodies an HTTP/2 connection may
	// send ahead of the app, in bytes; 1 MiB.
	MaxReceiveBufferPerConnection int
	// MaxReceiveBufferPerStream is the same for one request; 512 KiB.
	MaxReceiveBufferPerStream int
	// PingInterval is after how much silence of an HTTP/2 client it is asked whether
	// it is still there; 1 minute. One that does not say so within PingTimeout, 15 s,
	// is cut off.
	PingInterval, PingTimeout time.Duration

	// DialTimeout bounds a connection attempt to the app, which is in the same pod;
	// 5 s.
	DialTimeout time.Duration
	// UpstreamIdleTimeout is how long an idle connection to the app is kept; 1.5 s.
	// It is below the time after which common app servers close one (the shortest is
	// 2 s): a request that meets a closing connection would be lost, and only some
	// may be sent again.
	UpstreamIdleTimeout time.Duration
	// MaxIdleUpstream is how many idle connections to each port of the app are kept;
	// 1024. That is a burst's: each closed one is opened again for the next request.
	MaxIdleUpstream int
	// ExpectContinueTimeout is how long a body is held back for an app that does not
	// answer to "Expect: 100-continue"; 1 s. Clients wait as long.
	ExpectContinueTimeout time.Duration

	// ShutdownTimeout is how long answers under way may take once the server is to
	// end; 10 s.
	ShutdownTimeout time.Duration
}

// withDefaults returns b with its zero fields filled in.
func (b Bounds) withDefaults() Bounds {
	return Bounds{
		ReadHeaderTimeout: cmp.Or(b.ReadHeaderTimeout, 30*time.Second),
		IdleTimeout:       cmp.Or(b.IdleTimeout, 11*time.Minute),
		MaxHeaderBytes:    cmp.Or(b.MaxHeaderBytes, 64<<10),

		MaxConcurrentStreams:          cmp.Or(b.MaxConcurrentStreams, 100),
		MaxReadFrameSize:              cmp.Or(b.MaxReadFrameSize, 16<<10),
		MaxReceiveBufferPerConnection: cmp.Or(b.MaxReceiveBufferPerConnection, 1<<20),
		MaxReceiveBufferPerStream:     cmp.Or(b.MaxReceiveBufferPerStream, 512<<10),
		PingInterval:                  cmp.Or(b.PingInterval, time.Minute),
		PingTimeout:                   cmp.Or(b.PingTimeout, 15*time.Second),

		DialTimeout:           cmp.Or(b.DialTimeout, 5*time.Second),
		UpstreamIdleTimeout:   cmp.Or(b.UpstreamIdleTimeout, 1500*time.Millisecond),
		MaxIdleUpstream:       cmp.Or(b.MaxIdleUpstream, 1024),
		ExpectContinueTimeout: cmp.Or(b.ExpectContinueTimeout, time.Second),

		ShutdownTimeout: cmp.Or(b.ShutdownTimeout, 10*time.Second),
	}
}
