// Copyright The Penstock Authors.
// SPDX-License-Identifier: Apache-2.0

package limiter

import (
	"slices"
	"sync"
)

const (
	// looksPerCheck is how many counters that are due are looked at for each check.
	// Each becomes due once for a charge at most: two looks catch up with any arrears.
	looksPerCheck = 2
	// looksPerRoom is how many counters are looked at to find one to forget.
	looksPerRoom = 8
	// loggedPerKey is how many entries of a log weigh as much as one more counter.
	loggedPerKey = 16
	// heldPerKey is how many places of a Concurrency limit weigh as much as that.
	heldPerKey = 4
	// spacious is how much larger than its log a slice may be.
	spacious = 4
)

// shard is a part of a Memory, with a lock of its own.
type shard struct {
	mu       sync.Mutex
	counters map[counterName]*counter
	expiry   expiry
	// fresh are counters that are not filed yet.
	fresh queue
	// weight is that of all counters, and most what it may be.
	weight, most int
	// forgotten is how many counters were forgotten that were in use.
	forgotten int64
}

// weightOf is how many counters a state weighs as much as.
func weightOf(s *state) int { return 1 + cap(s.log)/loggedPerKey + cap(s.held)/heldPerKey }

// put changes a counter's state, or adds one if there is none. Tend the shard after
// that.
func (s *shard) put(c *counter, name counterName, changed state) {
	if c == nil {
		c = &counter{name: name}
		s.counters[name] = c
		s.fresh.push(c)
	} else {
		s.weight -= weightOf(&c.state)
	}
	if cap(changed.log) > loggedPerKey && cap(changed.log) > spacious*len(changed.log) {
		changed.log = slices.Clone(changed.log)
	}
	c.state = changed
	s.weight += weightOf(&c.state)
}

// tend removes some counters that are unused again, and files those that were added.
// If the shard is too heavy it makes room.
func (s *shard) tend(now int64) {
	for range looksPerCheck {
		due := s.expiry.takeDue(now)
		if due == nil {
			break
		}
		if due.state.until < now {
			s.remove(due)
			continue
		}
		s.expiry.file(due, now)
	}
	// What was added is filed only now, so that it does not give way to itself.
	s.fit(now)
	for c := s.fresh.pop(); c != nil; c = s.fresh.pop() {
		s.expiry.file(c, now)
	}
	s.fit(now)
}

// fit makes room until the shard is no heavier than it may be. One counter always
// stays, however long its log is.
func (s *shard) fit(now int64) {
	for s.weight > s.most && len(s.counters) > 1 && s.makeRoom(now) {
	}
}

// makeRoom removes the counter that is unused first, or nearly so, and says whether
// there was one.
func (s *shard) makeRoom(now int64) bool {
	soonest := s.expiry.takeSoonest()
	for looks := 1; looks < looksPerRoom && soonest != nil && soonest.state.until >= soonest.due; looks++ {
		// It was charged meanwhile.
		s.expiry.file(soonest, now)
		soonest = s.expiry.takeSoonest()
	}
	if soonest == nil {
		return false
	}
	if soonest.state.until >= now {
		s.forgotten++
	}
	s.remove(soonest)
	return true
}

// remove removes a counter that waits in no queue.
func (s *shard) remove(c *counter) {
	s.weight -= weightOf(&c.state)
	delete(s.counters, c.name)
}
