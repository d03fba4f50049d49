// Copyright The Penstock Authors.
// SPDX-License-Identifier: Apache-2.0

package store

import (
	"context"
	"sync"
	"time"
)

const (
	defaultBeat = 10 * time.Second
	// writeTimeout bounds one ack.
	writeTimeout = 2 * time.Second
	// firstRetry and lastRetry bound the waits after failed writes.
	firstRetry = 250 * time.Millisecond
	lastRetry  = 5 * time.Second
)

// AckWriter is where an Acker writes; *Store is one.
type AckWriter interface {
	WriteAck(ctx context.Context, namespace string, ack Ack) error
}

var _ AckWriter = (*Store)(nil)

// AckerOptions tune an Acker. Zero values take the defaults.
type AckerOptions struct {
	// Beat is how often an ack is written, ± 20 %, besides changes; absent is 10 s.
	Beat time.Duration
	// Sample completes each ack before it is written with what changes all the
	// time. Nil leaves it as it is.
	Sample func(*Ack)
	// Report is told the first error of a row, and nil when writing works again.
	Report func(error)
}

// Acker writes a pod's ack at once when it changes and again at each beat.
type Acker struct {
	namespace string
	options   AckerOptions
	wake      chan any

	mu  sync.Mutex
	ack Ack
}

// NewAcker returns an Acker for a pod; ack names the pod and the version. Nothing
// is written before Run.
func NewAcker(namespace string, ack Ack, options AckerOptions) *Acker {
	if options.Beat <= 0 {
		options.Beat = defaultBeat
	}
	if options.Sample == nil {
		options.Sample = func(*Ack) {}
	}
	if options.Report == nil {
		options.Report = func(error) {}
	}
	return &Acker{namespace: namespace, options: options, wake: make(chan any, 1), ack: ack}
}

// Set notes what is in force now and has it written at once.
func (a *Acker) Set(standing Standing) {
	a.mu.Lock()
	a.ack.Sequence, a.ack.Revision, a.ack.Problem = standing.Sequence, standing.Revision, standing.Problem
	a.mu.Unlock()
	a.Wake()
}

// Wake has the ack written at once.
func (a *Acker) Wake() {
	select {
	case a.wake <- struct{}{}:
	default: // it is awake already
	}
}

// Run writes until the context ends. It survives outages of the store: an ack that
// could not be written is written when the store is back, as it stands then.
func (a *Acker) Run(ctx context.Context, writer AckWriter) {
	failures := 0
	for ctx.Err() == nil {
		err := a.write(ctx, writer)
		if ctx.Err() != nil {
			return
		}
		wait := a.options.Beat
		switch {
		case err != nil:
			if failures == 0 {
				a.options.Report(err)
			}
			wait = min(lastRetry, firstRetry<<min(failures, 8))
			failures++
		case failures > 0:
			a.options.Report(nil)
			failures = 0
		}
		if !await(ctx, spread(wait), a.wake) {
			return
		}
	}
}

func (a *Acker) write(ctx context.Context, writer AckWriter) error {
	ctx, cancel := context.WithTimeout(ctx, writeTimeout)
	defer cancel()
	a.mu.Lock()
	ack := a.ack
	a.mu.Unlock()
	a.options.Sample(&ack)
	return writer.WriteAck(ctx, a.namespace, ack)
}
