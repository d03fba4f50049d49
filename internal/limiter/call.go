// Copyright The Penstock Authors.
// SPDX-License-Identifier: Apache-2.0

package limiter

import (
	"context"
	"errors"
	"time"

	"github.com/redis/go-redis/v9"
)

// request is what one request asks of one node of the store.
type request struct {
	// ctx says whether the client is still there.
	ctx       context.Context
	namespace string
	// parts are all checks, or all corrections.
	parts []*part
	// deadline is when the caller stops waiting.
	deadline time.Time
	// turn gets one value when the request leaves the queue: the call that its
	// goroutine is to make, or nil once the call that another makes has ended.
	turn chan *call
	// queued is guarded by the dispatcher's lock.
	queued bool
	// err says why the request was not sent. What became of one that was stands in
	// its parts, written before turn gets its value. Who gave up before must not look:
	// others may be writing there.
	err error
}

// isOver says that nobody waits for the request any more.
func (q *request) isOver(now time.Time) bool {
	return q.ctx.Err() != nil || !now.Before(q.deadline)
}

// weight is how many checks of cost 1 keep the store busy for as long.
func (q *request) weight() int {
	weight := 0
	for _, p := range q.parts {
		for _, made := range p.plans {
			weight += made.weight()
		}
		for i := range p.corrections {
			weight += p.corrections[i].plan.weight()
		}
	}
	return weight
}

// corrects says that the request corrects charges; else it decides.
func (q *request) corrects() bool { return len(q.parts[0].corrections) > 0 }

// call is what goes out at once for one or more requests, on a connection that
// nobody else uses meanwhile. All of them decide, or all correct.
type call struct {
	connection connection
	requests   []*request

	// Most calls have one run, which needs no memory of its own.
	first        run
	roomRuns     [1]*run
	roomRequests [1]*request
}

// callOf is a call of one request alone.
func callOf(free connection, q *request) *call {
	c := &call{connection: free}
	c.requests = append(c.roomRequests[:0], q)
	return c
}

// deadline is the latest of the requests' own: each of them stops waiting at its
// own, and the others still get their answer.
func (c *call) deadline() time.Time {
	latest := c.requests[0].deadline
	for _, q := range c.requests[1:] {
		if q.deadline.After(latest) {
			latest = q.deadline
		}
	}
	return latest
}

// leader is the request whose goroutine makes the call: the one that waits longest.
func (c *call) leader() *request {
	leader := c.requests[0]
	for _, q := range c.requests[1:] {
		if q.deadline.After(leader.deadline) {
			leader = q
		}
	}
	return leader
}

// giveUp ends the waiting of all requests: nothing of theirs was sent.
func (c *call) giveUp() {
	for _, q := range c.requests {
		q.err = unsentError{context.DeadlineExceeded}
	}
}

// scripts are what calls run.
type scripts struct {
	decide, correct script
	// clock is the store's, as its answers show it.
	clock *storeClock
}

// send runs a script once for each slot, all in one round trip, and writes to each
// part what became of it. The error is that of the call as a whole: nil if the
// node answered, be it that a slot is another's.
func (c *call) send(known scripts) error {
	now, asked := time.Now(), known.decide
	if c.requests[0].corrects() {
		asked = known.correct
	}
	runs := c.runs()
	behind := known.clock.behind()
	for _, r := range runs {
		r.prepare(behind)
	}
	asked.runAll(until{Context: context.Background(), at: c.deadline()}, c.connection, runs)
	received := time.Now()
	var whole error
	for _, r := range runs {
		r.tell(now)
		whole = worse(whole, r.err)
		if r.err == nil && !r.corrects() {
			known.clock.observe(r.reply[0], now, received)
		}
	}
	return whole
}

// runs puts the parts of all requests that one script can serve together.
func (c *call) runs() []*run {
	runs := c.roomRuns[:0]
	for _, q := range c.requests {
		for _, p := range q.parts {
			runs = c.assign(runs, p)
		}
	}
	return runs
}

// assign adds a part to the run that it fits, or to one of its own.
func (c *call) assign(runs []*run, p *part) []*run {
	if !p.alone && !p.asking {
		for i := len(runs) - 1; i >= 0; i-- {
			if first := runs[i].parts[0]; first.slot == p.slot && !first.alone && !first.asking {
				runs[i].parts = append(runs[i].parts, p)
				return runs
			}
		}
	}
	added := &c.first
	if len(runs) > 0 {
		added = new(run)
	}
	added.parts = append(added.roomParts[:0], p)
	return append(runs, added)
}

// worse is which of two errors says more about the connection.
func worse(one, other error) error {
	if _, elsewhere := redirectIn(other); other == nil || elsewhere {
		return one
	}
	if one == nil || !spoils(one) {
		return other
	}
	return one
}

// until is a context that only has a deadline: go-redis looks at nothing else, and
// no timer need be started and stopped for each call.
type until struct {
	context.Context
	at time.Time
}

// Deadline implements context.Context.
func (u until) Deadline() (time.Time, bool) { return u.at, true }

// spoils says that a connection must not be used again after an error: an answer
// may still arrive on it, or it leads to a store that cannot be written any more.
func spoils(err error) bool {
	var reply redis.Error
	return err != nil && (!errors.As(err, &reply) || ErrorKind(err) == KindReadOnly)
}
