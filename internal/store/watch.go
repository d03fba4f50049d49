// Copyright The Penstock Authors.
// SPDX-License-Identifier: Apache-2.0

package store

import (
	"context"
	"math/rand/v2"
	"time"
)

const (
	defaultPoll      = 5 * time.Second
	defaultRetry     = time.Second
	defaultBodyDelay = 100 * time.Millisecond
	// readTimeout bounds one read: a body of 1 MiB over a slow link fits.
	readTimeout = 5 * time.Second
)

// WatchOptions tune Watch. Zero values take the defaults.
type WatchOptions struct {
	// Poll is how often the revision is read, ± 20 %, besides announcements;
	// absent is 5 s.
	Poll time.Duration
	// Retry is how often it is read while reading fails, ± 20 %; absent is 1 s.
	Retry time.Duration
	// BodyDelay is the longest wait before a changed body is read, so that not
	// all pods of a namespace read it at once; absent is 100 ms. The first body is
	// read at once.
	BodyDelay time.Duration
	// Report is told the first error of a row, and nil when reading works again.
	// Errors are never fatal: what is in force stays. Nil tells nobody.
	Report func(error)
}

// Watch keeps a namespace's rule set in force until the context ends: it listens
// to announcements and polls besides, since an announcement may be lost. A rule
// set that is deleted stays in force.
func (s *Store) Watch(ctx context.Context, inForce *InForce, options WatchOptions) {
	options = options.withDefaults()
	// Listening begins before the first read, so that no change falls between.
	subscription := s.client.Subscribe(ctx, s.prefix.Rules(inForce.Namespace()))
	defer func() { _ = subscription.Close() }()
	// A renewed subscription is a message as well: what was announced meanwhile is
	// read then.
	announced := subscription.ChannelWithSubscriptions()
	failing := false
	for ctx.Err() == nil {
		err := s.poll(ctx, inForce, options.BodyDelay)
		if ctx.Err() != nil {
			return
		}
		if err != nil != failing {
			options.Report(err)
		}
		failing = err != nil
		wait := options.Poll
		if failing {
			wait = options.Retry
		}
		if !await(ctx, spread(wait), announced) {
			return
		}
	}
}

// poll reads what stands once and puts it in force if it is news.
func (s *Store) poll(ctx context.Context, inForce *InForce, bodyDelay time.Duration) error {
	ctx, cancel := context.WithTimeout(ctx, readTimeout)
	defer cancel()
	found, err := s.readHead(ctx, inForce.Namespace())
	if err != nil {
		return err
	}
	news, needsBody := inForce.wants(found)
	if !news {
		inForce.confirm(found)
		return nil
	}
	if !needsBody {
		return inForce.accept(found, func() []byte { return nil })
	}
	if inForce.Standing().Sequence > 0 && !await(ctx, rand.N(bodyDelay), nil) {
		return ctx.Err()
	}
	found, body, err := s.readPublished(ctx, inForce.Namespace())
	if err != nil {
		return err
	}
	return inForce.accept(found, func() []byte { return body })
}

// await waits until the time is over or a message came, and reports false where
// the context ended before.
func await(ctx context.Context, wait time.Duration, messages <-chan any) bool {
	timer := time.NewTimer(wait)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return false
	case <-timer.C:
	case _, open := <-messages:
		if !open && messages != nil {
			// Only closing ends it, and that is ours to do: wait for the timer.
			return await(ctx, wait, nil)
		}
	}
	return true
}

// spread varies a wait by up to a fifth either way, so that many pods that
// started together do not act together.
func spread(wait time.Duration) time.Duration {
	fifth := wait / 5
	return wait - fifth + rand.N(2*fifth+1)
}

func (o WatchOptions) withDefaults() WatchOptions {
	if o.Poll <= 0 {
		o.Poll = defaultPoll
	}
	if o.Retry <= 0 {
		o.Retry = defaultRetry
	}
	if o.BodyDelay <= 0 {
		o.BodyDelay = defaultBodyDelay
	}
	if o.Report == nil {
		o.Report = func(error) {}
	}
	return o
}
