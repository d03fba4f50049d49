// Copyright The Penstock Authors.
// SPDX-License-Identifier: Apache-2.0

package limiter

import (
	"maps"
	"sync"
	"time"
)

// mostLeavers is how many requests that left a queue are remembered at most.
const mostLeavers = 4096

// leavers are requests that left a queue while others stood behind them. Their slots can
// be given back once all behind them have left, too: clients that leave one after the
// other are noticed in any order. Each stands for itself, and those of other processes
// are not known here.
type leavers struct {
	mu sync.Mutex
	// byEnd are their corrections by the end of their slots.
	byEnd map[slotEdge]correction
}

// slotEdge is where a slot of a queue begins or ends: a time of the store in
// microseconds, and parts of one.
type slotEdge struct {
	queue     counterName
	at, parts int64
}

// slot is the slot that a correction gives back of a queue; ok is false if it is about
// anything else.
func (c *correction) slot() (from, to slotEdge, ok bool) {
	queue, isQueue := c.plan.(*leakyBucket)
	if !isQueue || c.kind != giveBack {
		return from, to, false
	}
	name := counterName{namespace: c.namespace, identity: c.identity, limit: c.limit}
	begins, ends := queue.slot(c.stand, c.charged)
	return slotEdge{queue: name, at: begins.whole, parts: begins.parts}, slotEdge{queue: name, at: ends.whole, parts: ends.parts}, true
}

// add remembers a request that left while others stood behind it. Where too many have,
// its slot is not given back.
func (l *leavers) add(c correction) {
	_, to, ok := c.slot()
	if !ok {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.byEnd == nil {
		l.byEnd = make(map[slotEdge]correction)
	}
	if len(l.byEnd) >= mostLeavers {
		now := time.Now()
		maps.DeleteFunc(l.byEnd, func(_ slotEdge, known correction) bool { return now.After(known.until) })
	}
	if len(l.byEnd) < mostLeavers {
		l.byEnd[to] = c
	}
}

// before takes those who stood one before the other up to a slot that was given back:
// now theirs can be, in this order.
func (l *leavers) before(c *correction) []correction {
	from, _, ok := c.slot()
	if !ok {
		return nil
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	var row []correction
	for range len(l.byEnd) {
		next, left := l.byEnd[from]
		if !left {
			break
		}
		delete(l.byEnd, from)
		row = append(row, next)
		from, _, _ = next.slot()
	}
	return row
}
