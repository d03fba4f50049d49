// Copyright The Penstock Authors.
// SPDX-License-Identifier: Apache-2.0

package limiter

import (
	"sync"
	"time"
)

// steppedBack is by how much a store's clock must fall behind to have stepped back:
// more than it is ever slowed down by between two answers.
const steppedBack = 100 * time.Millisecond

// storeClock watches a node's clock by the times in its answers. Where that steps
// back, or another machine with another clock takes over, stored times may lie
// further ahead than their limits can produce. No state shows that by itself: pods
// that know a larger burst produce such times as well.
//
// Nil watches nothing.
type storeClock struct {
	mu sync.Mutex
	// began is when this process began to watch, by its steady clock.
	began time.Time
	// ahead is how much the node's clock was ahead of the steady one at least, in
	// microseconds.
	ahead int64
	known bool
	// latest is what the node's clock showed last, and until what it shows when the
	// time comes back that it had shown before it stepped.
	latest, until int64
}

func newStoreClock(now time.Time) *storeClock { return &storeClock{began: now} }

// observe learns that the clock showed a time between the sending of a call and its
// answer.
func (c *storeClock) observe(at int64, sent, received time.Time) {
	if c == nil {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	least, most := at-received.Sub(c.began).Microseconds(), at-sent.Sub(c.began).Microseconds()
	if c.known && most < c.ahead-steppedBack.Microseconds() {
		c.until = max(c.until, at+c.ahead-least)
	}
	if !c.known || most < c.ahead || least > c.ahead {
		c.ahead = least
	}
	c.known, c.latest = true, at
}

// behind says that the clock shows a time that it had shown before.
func (c *storeClock) behind() bool {
	if c == nil {
		return false
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.latest < c.until
}
