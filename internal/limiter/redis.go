// Copyright The Penstock Authors.
// SPDX-License-Identifier: Apache-2.0

package limiter

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/penstock-dev/penstock/internal/keys"
	"github.com/penstock-dev/penstock/internal/redisconn"
)

const (
	// connections is how many a process keeps open, and so how many calls are under
	// way at once: one is worked on while the other travels. Every pod pays for them.
	connections = 2
	// sweepEvery is how often idle connections are looked at.
	sweepEvery = time.Second
)

// Redis decides in a shared store, by a script on the store's clock, never
// repeated. Each request is part of one call; requests that come while all
// connections are in use share the next. While the store fails repeatedly it is not
// asked, and a probe in the background finds out when it is back.
type Redis struct {
	prefix     keys.Prefix
	deadline   time.Duration
	dispatcher dispatcher
	keeper     *redisconn.Keeper
	// now is this machine's clock, of which no verdict depends.
	now        func() time.Time
	breaker    breaker
	remembered *remembered
	leases     *leases
	// corrections wait for the store. Those that find no place are lost.
	corrections     chan correction
	correctionsLost atomic.Int64
	// corrected is closed once r is closed and no correction waits any more.
	corrected chan struct{}
	// connected gets a value when a connection was made: a probe need not wait.
	connected chan struct{}
	closing   chan struct{}
	closed    sync.Once
	running   sync.WaitGroup
}

var _ Decider = (*Redis)(nil)

// NewRedis returns a limiter that connects as the options say, in the background,
// and keeps its connections open: no request waits for one to be made. The deadline
// is for the whole of a decision, waiting for a connection included. Close it.
func NewRedis(options *redis.Options, prefix keys.Prefix, deadline time.Duration) *Redis {
	r := &Redis{
		prefix: prefix, deadline: deadline, now: time.Now, remembered: newRemembered(), leases: newLeases(),
		connected: make(chan struct{}, 1), closing: make(chan struct{}),
		corrections: make(chan correction, mostCorrections), corrected: make(chan struct{}),
	}
	r.dispatcher.scripts = scripts{
		decide: newScript(decideText), correct: newScript(correctText), clock: newStoreClock(time.Now()),
	}
	r.dispatcher.ended = r.callEnded
	r.keeper = redisconn.Keep(options, connections, func(link *redisconn.Link) {
		r.dispatcher.opened(link)
		r.wakeProbe()
	})
	r.running.Go(r.sweep)
	r.running.Go(r.correctAll)
	return r
}

// Await returns once the store can be asked, or could not be reached at first,
// which takes the dial timeout at most, or the context has ended.
func (r *Redis) Await(ctx context.Context) { r.keeper.Await(ctx) }

// Open says whether the breaker is open: the store is not asked.
func (r *Redis) Open() bool { return r.breaker.isOpen() }

// Close sends the corrections that wait, for a second at most, and closes the
// connections. Decisions fail from then on.
func (r *Redis) Close() {
	r.closed.Do(func() { close(r.closing) })
	<-r.corrected
	r.dispatcher.close()
	r.keeper.Close()
	r.running.Wait()
}

// Decide asks the store, unless it refused the same lately. Its errors are those of the store, for which ErrorKind
// has a name, ErrBreakerOpen, or one about a limit out of range.
func (r *Redis) Decide(ctx context.Context, namespace string, checks []Check) (Decision, error) {
	if len(checks) == 0 {
		return Decision{Allowed: true}, nil
	}
	began := time.Now()
	checks = distinct(checks)
	if decision, refused := r.remembered.decide(began, namespace, checks); refused {
		return decision, nil
	}
	if !leasable(checks) {
		decision, _, err := r.ask(ctx, began, namespace, checks)
		return decision, err
	}
	if decision, spent := r.leases.spend(began, namespace, checks); spent {
		return decision, nil
	}
	checks = r.leases.ask(namespace, checks)
	decision, asked, err := r.ask(ctx, began, namespace, checks)
	r.leases.take(namespace, checks, asked, &decision)
	return decision, err
}

// ask has the store decide. The request is nil if it was not decided on.
func (r *Redis) ask(ctx context.Context, began time.Time, namespace string, checks []Check) (Decision, *request, error) {
	plans, err := plansFor(checks, r.now)
	if err != nil {
		return Decision{}, nil, err
	}
	if r.breaker.isOpen() {
		return Decision{}, nil, ErrBreakerOpen
	}
	names := make([]string, len(checks))
	for i := range checks {
		names[i] = r.prefix.Counter(namespace, checks[i].Identity, checks[i].Limit.Key)
	}
	asked := r.newRequest(ctx, began, namespace, names, plans)
	err = r.dispatcher.do(asked)
	if errors.Is(err, errNoConnection) {
		r.record(failed, namespace)
		err = errors.Join(err, r.keeper.Failure())
	}
	if err == nil {
		err = unreadable(checks, plans, asked.stands)
	}
	if err != nil {
		return Decision{}, nil, fmt.Errorf("decide in the store: %w", err)
	}
	decision := decisionOf(checks, plans, asked.stands, Store)
	decision.StoreTime = asked.at
	decision.Receipt = receiptFor(r, namespace, checks, plans, asked.stands, asked.at)
	if !decision.Allowed {
		r.remembered.remember(namespace, checks, plans, asked.stands, asked.sent, time.Now())
	}
	return decision, asked, nil
}

func (r *Redis) newRequest(ctx context.Context, began time.Time, namespace string, names []string, plans []plan) *request {
	deadline := began.Add(r.deadline)
	if own, ok := ctx.Deadline(); ok && own.Before(deadline) {
		deadline = own
	}
	return &request{ctx: ctx, namespace: namespace, names: names, plans: plans, deadline: deadline}
}

// unreadable is the error about limits that the store could not decide on, since
// of their counters or its clock.
func unreadable(checks []Check, plans []plan, stands []standing) error {
	var found error
	for i := range stands {
		if plans[i].has(shadowed) {
			continue
		}
		if stands[i].outside {
			found = errors.Join(found, errOutsideCalendar)
		}
		if stands[i].corrupt {
			found = errors.Join(found, &corruptError{algorithm: checks[i].Limit.Algorithm})
		}
	}
	return found
}

// lateness is how much later than planned a deadline may fire before we take it
// that we were paused, not the store.
const lateness = 5 * time.Millisecond

// callEnded has the breaker count a call.
func (r *Redis) callEnded(c *call, err error) {
	late := time.Since(c.deadline()) > lateness
	r.record(outcomeOf(err, late), c.requests[0].namespace)
}

func (r *Redis) record(result outcome, namespace string) {
	if !r.breaker.record(result) {
		return
	}
	select {
	case <-r.closing:
	default:
		r.startProbe(namespace)
	}
}

// sweep looks at idle connections and old refusals until r is closed.
func (r *Redis) sweep() {
	ticker := time.NewTicker(sweepEvery)
	defer ticker.Stop()
	for {
		select {
		case <-ticker.C:
			r.dispatcher.sweep()
			r.remembered.sweep(time.Now())
			r.leases.sweep(time.Now())
		case <-r.closing:
			return
		}
	}
}
