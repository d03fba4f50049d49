// Copyright The Penstock Authors.
// SPDX-License-Identifier: Apache-2.0

package limiter

import (
	"context"
	"errors"
	"time"

	"github.com/redis/go-redis/v9"
)

// request is one request's checks on their way to the store.
type request struct {
	// ctx says whether the client is still there.
	ctx       context.Context
	namespace string
	names     []string
	// plans are the checks to decide on, or corrections those charges to correct.
	plans       []plan
	corrections []correction
	// deadline is when the caller stops waiting.
	deadline time.Time
	// turn gets one value when the request leaves the queue: the call that its
	// goroutine is to make, or nil once the call that another makes has ended.
	turn chan *call
	// queued is guarded by the dispatcher's lock.
	queued bool

	// What became of it. Written by who makes the call, before turn gets its value.
	sent   time.Time
	stands []standing
	// at is the store's time, in microseconds.
	at int64
	// undone is how many corrections could not be made.
	undone int
	err    error
}

// isOver says that nobody waits for the request any more.
func (q *request) isOver(now time.Time) bool {
	return q.ctx.Err() != nil || !now.Before(q.deadline)
}

// call is one run of the script for one or more requests, on a connection that
// nobody else uses meanwhile.
type call struct {
	connection connection
	requests   []*request
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

// scripts are what calls run.
type scripts struct {
	decide, correct script
	// clock is the store's, as its answers show it.
	clock *storeClock
}

// send runs a script and writes to each request what became of it. The error is
// that of the call as a whole.
func (c *call) send(run scripts) error {
	checks := 0
	for _, q := range c.requests {
		checks += len(q.names)
	}
	words := make([]any, scriptWords, scriptWords+2*len(c.requests)+10*checks)
	for _, q := range c.requests {
		for _, name := range q.names {
			words = append(words, name)
		}
	}
	now, asked := time.Now(), run.decide
	if c.corrects() {
		asked, words = run.correct, c.appendCorrections(words)
	} else {
		words = c.appendChecks(append(words, behindWord(run.clock)))
	}
	reply, err := asked.run(until{Context: context.Background(), at: c.deadline()}, c.connection, words, checks)
	for _, q := range c.requests {
		q.sent, q.err = now, err
	}
	if err == nil && len(reply) == 0 {
		err = errEmptyReply
		for _, q := range c.requests {
			q.err = err
		}
	}
	if err != nil {
		return err
	}
	if c.corrects() {
		c.readCorrections(reply)
	} else {
		c.readChecks(reply)
		run.clock.observe(reply[0], now, time.Now())
	}
	return nil
}

// corrects says that the call corrects charges; else it decides. No call does both.
func (c *call) corrects() bool { return len(c.requests[0].corrections) > 0 }

// appendChecks tells the script the checks of all requests, and those of requests
// in a row that have the same once.
func (c *call) appendChecks(words []any) []any {
	for i := 0; i < len(c.requests); {
		plans, run := c.requests[i].plans, 1
		for i+run < len(c.requests) && samePlans(plans, c.requests[i+run].plans) {
			run++
		}
		words = append(words, run, len(plans))
		for _, made := range plans {
			words = made.appendArguments(words)
		}
		i += run
	}
	return words
}

// behindWord tells the script what is known of the clock.
func behindWord(clock *storeClock) int {
	if clock.behind() {
		return 1
	}
	return 0
}

func (c *call) readChecks(reply []int64) {
	at, reply := reply[0], reply[1:]
	for _, q := range c.requests {
		q.at = at
		q.stands, reply, q.err = standingsOf(reply, q.plans)
	}
}

func (c *call) appendCorrections(words []any) []any {
	for _, q := range c.requests {
		for i := range q.corrections {
			words = q.corrections[i].appendArguments(words)
		}
	}
	return words
}

func (c *call) readCorrections(reply []int64) {
	for _, q := range c.requests {
		for range q.corrections {
			if len(reply) == 0 || reply[0] != 1 {
				q.undone++
			}
			reply = reply[min(1, len(reply)):]
		}
	}
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
