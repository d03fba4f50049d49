// Copyright The Penstock Authors.
// SPDX-License-Identifier: Apache-2.0

package limiter

import (
	"context"
	"runtime"
	"sync"
	"time"

	"github.com/redis/go-redis/v9"
)

const (
	// checksPerCall is how many checks one call takes from the queue, fewer if they
	// weigh more. Redis does nothing else while the script runs, about 0.2 ms.
	checksPerCall = 64
	// mostWaiting bounds the queue. Whoever waits does so for one deadline at most.
	mostWaiting = 4096
)

// connection is an open connection to the store. One call at a time uses it.
type connection interface {
	Process(ctx context.Context, command redis.Cmder) error
	// ProcessAll sends commands together; each has its error.
	ProcessAll(ctx context.Context, commands []redis.Cmder) error
	// Lose gives it up; another is made in the background.
	Lose()
	// IsOpen says whether it can still be used, as far as this side knows.
	IsOpen() bool
}

// dispatcher sends requests to one node of the store. A request goes out at once
// when nothing is under way, and together with those that are just about to be made
// when a connection is idle. While all are in use requests queue, and a connection
// that gets free takes its share of them, in order, as many as fit one call. So
// nobody ever waits for company that may not come, and the calls grow as the load
// does. No goroutine of its own is needed: each call is made by the goroutine of one
// of its requests.
type dispatcher struct {
	scripts scripts
	// ended is told of each call as it ends.
	ended func(*call, error)

	mu    sync.Mutex
	idle  []connection
	queue []*request
	// open is how many connections are idle or in use.
	open int
	// underWay is how many requests are in calls that have not ended.
	underWay int
	closed   bool

	timers sync.Pool
}

// opened adds a connection.
func (d *dispatcher) opened(added connection) {
	d.mu.Lock()
	d.open++
	d.mu.Unlock()
	d.release(added, false)
}

// do sends a request. Its error says that the request was given up; what became of
// one that was not stands in its parts.
func (d *dispatcher) do(q *request) error {
	if err := q.ctx.Err(); err != nil {
		return unsentError{err}
	}
	free, busy, err := d.freeOrQueue(q)
	switch {
	case err != nil:
		return err
	case free == nil:
		return d.await(q)
	case busy:
		// The store works on another call. Until that ends, it is no loss to let those
		// who are ready to run ask as well: what comes with it comes almost for free.
		runtime.Gosched()
		d.release(free, false)
		return d.await(q)
	default:
		d.make(callOf(free, q))
		return q.err
	}
}

// freeOrQueue returns an idle connection for a request, if there is one, and whether
// other calls are under way. The request queues, unless the connection is for it alone.
func (d *dispatcher) freeOrQueue(q *request) (free connection, busy bool, err error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.open == 0 || d.closed {
		return nil, false, errNoConnection
	}
	if last := len(d.idle) - 1; last >= 0 {
		free, d.idle = d.idle[last], d.idle[:last]
		if d.underWay == 0 {
			d.underWay = 1
			return free, false, nil
		}
	} else if len(d.queue) >= mostWaiting {
		return nil, false, errCrowded
	}
	q.turn, q.queued = make(chan *call, 1), true
	d.queue = append(d.queue, q)
	return free, true, nil
}

// await waits for a queued request's turn, and makes the call if it is its own.
func (d *dispatcher) await(q *request) error {
	timer := d.timer(time.Until(q.deadline))
	defer d.putBack(timer)
	var over error
	select {
	case turn := <-q.turn:
		return d.take(q, turn)
	case <-timer.C:
		over = context.DeadlineExceeded
	case <-q.ctx.Done():
		over = q.ctx.Err()
	}
	sent := d.leaveQueue(q)
	if !sent {
		return unsentError{over}
	}
	if q.ctx.Err() == nil {
		// It was sent, and the answer is looked for once more.
		timer.Reset(lateness)
		select {
		case turn := <-q.turn:
			return d.take(q, turn)
		case <-timer.C:
		}
	}
	select {
	case turn := <-q.turn:
		// Others count on the call, or the answer came at the last moment.
		return d.take(q, turn)
	default:
		return over
	}
}

// leaveQueue ends a request's waiting, and says whether it has left the queue before.
func (d *dispatcher) leaveQueue(q *request) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	sent := !q.queued
	// Whoever takes from the queue passes over requests that are over.
	q.queued = false
	return sent
}

// timer returns one that fires then, used before or new: every request that waits
// needs one, and hardly any fires.
func (d *dispatcher) timer(after time.Duration) *time.Timer {
	if used, ok := d.timers.Get().(*time.Timer); ok {
		used.Reset(after)
		return used
	}
	return time.NewTimer(after)
}

// putBack stops a timer. One that is stopped or reset never sends an old time.
func (d *dispatcher) putBack(used *time.Timer) {
	used.Stop()
	d.timers.Put(used)
}

func (d *dispatcher) take(q *request, turn *call) error {
	if turn != nil {
		d.make(turn)
	}
	return q.err
}

// make makes a call, unless it is too late for that, passes the connection on and
// tells the call's requests.
func (d *dispatcher) make(c *call) {
	leader := c.leader()
	var err error
	now := time.Now()
	late := !now.Before(c.deadline())
	if late {
		// We were paused. Sending would only spoil the connection.
		c.giveUp()
	} else {
		err = c.send(d.scripts, now)
	}
	d.mu.Lock()
	d.underWay -= len(c.requests)
	d.mu.Unlock()
	d.release(c.connection, spoils(err))
	if !late {
		d.ended(c, err)
	}
	for _, q := range c.requests {
		if q != leader {
			q.turn <- nil
		}
	}
}

// release gives a connection to the next in the queue, or gives it up.
func (d *dispatcher) release(free connection, spoilt bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if spoilt || d.closed {
		d.open--
		free.Lose()
		if d.open == 0 {
			d.refuseQueue()
		}
		return
	}
	next := d.nextRequests()
	if len(next) == 0 {
		d.idle = append(d.idle, free)
		return
	}
	d.underWay += len(next)
	c := &call{connection: free, requests: next}
	c.leader().turn <- c
}

// nextRequests takes the requests of one call from the queue. While other calls are
// under way it is an even share of all, so that the store works on one call while the
// answers to another travel and are read: else one call would have nearly all, and the
// store nothing to do until the callers come again.
func (d *dispatcher) nextRequests() []*request {
	now := time.Now()
	var next []*request
	share := len(d.queue)
	if d.underWay > 0 {
		share = (len(d.queue) + d.underWay + d.open - 1) / d.open
	}
	checks, taken := 0, 0
	for _, q := range d.queue {
		if q.queued && !q.isOver(now) {
			if len(next) >= share {
				break
			}
			if checks += q.weight(); len(next) > 0 && (checks > checksPerCall || next[0].corrects() != q.corrects()) {
				break
			}
			q.queued = false
			next = append(next, q)
		}
		taken++
	}
	d.dequeue(taken)
	return next
}

// dequeue drops the first of the queue, in place: its memory is used again.
func (d *dispatcher) dequeue(count int) {
	left := copy(d.queue, d.queue[count:])
	clear(d.queue[left:])
	d.queue = d.queue[:left]
}

// refuseQueue ends the waiting of all: nothing of theirs was sent.
func (d *dispatcher) refuseQueue() {
	for _, q := range d.queue {
		if q.queued {
			q.queued, q.err = false, errNoConnection
			q.turn <- nil
		}
	}
	d.dequeue(len(d.queue))
}

// sweep gives up idle connections that the other end has closed, so that no
// request finds out.
func (d *dispatcher) sweep() {
	d.mu.Lock()
	defer d.mu.Unlock()
	kept := d.idle[:0]
	for _, c := range d.idle {
		if c.IsOpen() {
			kept = append(kept, c)
			continue
		}
		d.open--
		c.Lose()
	}
	clear(d.idle[len(kept):])
	d.idle = kept
}

// close refuses what waits and what comes. Calls under way end by themselves.
func (d *dispatcher) close() {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.closed = true
	d.refuseQueue()
}
