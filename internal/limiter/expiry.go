// Copyright The Penstock Authors.
// SPDX-License-Identifier: Apache-2.0

package limiter

import "math/bits"

// counter is one limit's state in memory, for one identity.
type counter struct {
	name  counterName
	state state
	// due is when the counter is looked at, in microseconds; next is the one behind it
	// in its queue.
	due  int64
	next *counter
}

// stored is the counter's state; of nil, that of an unused limit.
func (c *counter) stored() state {
	if c == nil {
		return state{}
	}
	return c.state
}

// queue holds counters in the order in which they came.
type queue struct{ first, last *counter }

func (q *queue) push(c *counter) {
	c.next = nil
	if q.first == nil {
		q.first = c
	} else {
		q.last.next = c
	}
	q.last = c
}

// pop takes the first counter, nil if there is none.
func (q *queue) pop() *counter {
	c := q.first
	if c != nil {
		q.first, c.next = c.next, nil
	}
	return c
}

// lengths is how many lengths of time there are. A set of them fits 64 bits.
const lengths = 64

// expiry finds the counters that are unused again, without looking at others. Those
// that stay in use for about as long wait in one queue, and each for the same length
// of time: so every queue is in order by itself, and nothing is ever sorted. A
// counter that was charged meanwhile stays where it is, and is filed anew when its
// turn comes. So each is looked at no more often than it is charged.
type expiry struct {
	queues [lengths]queue
	// waiting has a bit for each queue that is not empty.
	waiting uint64
	// next is when the first counter is due, or earlier.
	next int64
}

// length is one of the lengths of time that counters wait, in microseconds: from
// 16 ms on each is a third or a half longer than the one before, up to 600 days.
func length(number int) int64 { return int64(2+number%2) << (13 + number/2) }

// lengthFor is the number of the least length that is at least a span, or of the
// longest. A counter that is used for even longer is filed anew after that.
func lengthFor(span int64) int {
	if span <= length(0) {
		return 0
	}
	// The span is more than half of 2^size, and not more than that.
	size := bits.Len64(uint64(span - 1))
	number := 2 * (size - 14)
	if span <= length(number-1) {
		number--
	}
	return min(number, lengths-1)
}

// file has a counter looked at once its state is unused, as it is now.
func (e *expiry) file(c *counter, now int64) {
	number := lengthFor(c.state.until - now + 1)
	c.due = now + length(number)
	if e.waiting == 0 || c.due < e.next {
		e.next = c.due
	}
	e.queues[number].push(c)
	e.waiting |= 1 << number
}

// takeDue takes a counter whose time to be looked at has come, nil if there is none.
func (e *expiry) takeDue(now int64) *counter {
	if e.waiting == 0 || now < e.next {
		return nil
	}
	number := e.soonest()
	if e.next = e.queues[number].first.due; now < e.next {
		return nil
	}
	return e.take(number)
}

// takeSoonest takes the counter that is due first, nil if there is none.
func (e *expiry) takeSoonest() *counter {
	if e.waiting == 0 {
		return nil
	}
	return e.take(e.soonest())
}

// soonest is the queue whose first counter is due first. At least one is not empty.
func (e *expiry) soonest() int {
	found := bits.TrailingZeros64(e.waiting)
	for left := e.waiting; left != 0; left &= left - 1 {
		if number := bits.TrailingZeros64(left); e.queues[number].first.due < e.queues[found].first.due {
			found = number
		}
	}
	return found
}

func (e *expiry) take(number int) *counter {
	taken := e.queues[number].pop()
	if e.queues[number].first == nil {
		e.waiting &^= 1 << number
	}
	return taken
}
