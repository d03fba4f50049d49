// Copyright The Penstock Authors.
// SPDX-License-Identifier: Apache-2.0

package limiter

import (
	"errors"
	"sync"
	"sync/atomic"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/penstock-dev/penstock/internal/keys"
	"github.com/penstock-dev/penstock/internal/redisconn"
)

// connections is how many a process keeps open to a node, and so how many calls are
// under way at once: one is worked on while the other travels. Every pod pays for
// them.
const connections = 2

// node is one server of the store: the connections to it, who waits for them, and
// whether it is asked at present. While it fails repeatedly it is not, and a probe in
// the background finds out when it is back.
type node struct {
	// address is host:port, as the options have it.
	address    string
	prefix     keys.Prefix
	deadline   time.Duration
	dispatcher dispatcher
	keeper     *redisconn.Keeper
	breaker    breaker
	// probed is the identity that probes count for, in one of the node's own slots.
	probed atomic.Pointer[string]
	// opened is called when the breaker opens; nil tells nobody.
	opened func()
	// connected gets a value when a connection was made: a probe need not wait.
	connected chan struct{}
	closing   chan struct{}
	closed    sync.Once
	running   sync.WaitGroup
}

// openNode connects as the options say, in the background.
func openNode(options *redis.Options, prefix keys.Prefix, deadline time.Duration, opened func()) *node {
	n := &node{
		address: options.Addr, prefix: prefix, deadline: deadline, opened: opened,
		connected: make(chan struct{}, 1), closing: make(chan struct{}),
	}
	n.probeFor(probeName)
	n.dispatcher.scripts = scripts{
		decide: newScript(decideText), correct: newScript(correctText), clock: newStoreClock(time.Now()),
	}
	n.dispatcher.ended = n.callEnded
	n.keeper = redisconn.Keep(options, connections, func(link *redisconn.Link) {
		n.dispatcher.opened(link)
		n.wakeProbe()
	})
	return n
}

// ask sends a request, unless the node fails at present. Its error says that the
// request was given up; what became of one that was not stands in its parts.
func (n *node) ask(q *request) error {
	if n.breaker.isOpen() {
		return ErrBreakerOpen
	}
	err := n.dispatcher.do(q)
	if errors.Is(err, errNoConnection) {
		n.record(failed, q.namespace)
		err = errors.Join(err, n.keeper.Failure())
	}
	return err
}

// lateness is how much later than planned a deadline may fire before we take it
// that we were paused, not the store. For so long a request that was sent waits
// beyond its deadline for the end of its call.
const lateness = 5 * time.Millisecond

// callEnded has the breaker count a call.
func (n *node) callEnded(c *call, err error) {
	late := time.Since(c.deadline()) > redisconn.LastLook+lateness
	n.record(outcomeOf(err, late), c.requests[0].namespace)
}

func (n *node) record(result outcome, namespace string) {
	if !n.breaker.record(result) {
		return
	}
	if n.opened != nil {
		n.opened()
	}
	select {
	case <-n.closing:
	default:
		n.startProbe(namespace)
	}
}

// close closes the connections. Requests fail from then on.
func (n *node) close() {
	n.closed.Do(func() { close(n.closing) })
	n.dispatcher.close()
	n.keeper.Close()
	n.running.Wait()
}
