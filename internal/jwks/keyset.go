// Copyright The Penstock Authors.
// SPDX-License-Identifier: Apache-2.0

package jwks

import (
	"bytes"
	"context"
	"math/rand/v2"
	"sync/atomic"
	"time"

	"github.com/penstock-dev/penstock/internal/match/token"
)

// keySet is the key set of one URL. One goroutine fetches it, so there is never more
// than one fetch under way.
type keySet struct {
	url     string
	address atomic.Pointer[token.KeyAddress]
	current atomic.Pointer[token.KeySet]
	// asked holds a value once a newer set is wanted.
	asked chan struct{}

	// Only what fetches uses these.
	text     []byte
	fetched  time.Time
	failures int
}

func newKeySet(url string) *keySet { return &keySet{url: url, asked: make(chan struct{}, 1)} }

func (s *keySet) renew() {
	select {
	case s.asked <- struct{}{}:
	default:
	}
}

// keepFresh fetches a set at once and then again and again, until the context ends.
func (c *Cache) keepFresh(ctx context.Context, set *keySet) {
	for ctx.Err() == nil {
		// What asked so far is answered by this fetch.
		select {
		case <-set.asked:
		default:
		}
		started := time.Now()
		text, err := fetch(ctx, c.options.Client, set.url)
		if err == nil {
			err = set.take(text, started)
		}
		if ctx.Err() != nil {
			return
		}
		c.note(set, err)
		c.pause(ctx, set, started)
	}
}

// take has a fetched text be the set from now on. The same text again is the same
// set, so that what was verified with it stays verified.
func (s *keySet) take(text []byte, at time.Time) error {
	if s.current.Load() == nil || !bytes.Equal(text, s.text) {
		parsed, err := token.ParseKeySet(text)
		if err != nil {
			return err
		}
		s.current.Store(parsed)
		s.text = text
	}
	s.fetched = at
	return nil
}

// note counts a failure, and drops a set that is too old. A set without a key fails
// too: better to go on with the keys of before than to believe nobody by mistake.
func (c *Cache) note(set *keySet, err error) {
	defer c.options.Report(*set.address.Load(), err)
	if err == nil {
		set.failures = 0
		return
	}
	set.failures++
	c.failed.Add(1)
	if time.Since(set.fetched) > c.options.Keep {
		set.current.Store(nil)
	}
}

// pause waits until the next fetch is due, or is asked for and allowed.
func (c *Cache) pause(ctx context.Context, set *keySet, started time.Time) {
	due := time.NewTimer(time.Until(started.Add(c.wait(set.failures))))
	defer due.Stop()
	select {
	case <-ctx.Done():
		return
	case <-due.C:
		return
	case <-set.asked:
	}
	allowed := time.NewTimer(time.Until(started.Add(c.options.Renewal)))
	defer allowed.Stop()
	select {
	case <-ctx.Done():
	case <-due.C:
	case <-allowed.C:
	}
}

// maxDoublings keeps the wait from overflowing; Refresh bounds it long before.
const maxDoublings = 20

// wait is the time from the start of one fetch to the next, give or take a tenth so
// that pods do not fetch together.
func (c *Cache) wait(failures int) time.Duration {
	wait := c.options.Refresh
	if failures > 0 {
		wait = min(c.options.Retry<<min(failures-1, maxDoublings), c.options.Refresh)
	}
	return wait - wait/10 + rand.N(wait/5+1)
}
