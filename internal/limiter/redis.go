// Copyright The Penstock Authors.
// SPDX-License-Identifier: Apache-2.0

package limiter

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/penstock-dev/penstock/internal/keys"
)

// sweepEvery is how often idle connections are looked at.
const sweepEvery = time.Second

// Redis decides in a shared store, by a script on the store's clock, never
// repeated. Each request is part of one call to each node of the store that it
// needs; requests that come while all connections are in use share the next.
type Redis struct {
	prefix   keys.Prefix
	deadline time.Duration
	// layout is never nil.
	layout atomic.Pointer[layout]
	// cluster keeps the layout up to date; nil where the store is none.
	cluster *cluster
	// now is this machine's clock, of which no verdict depends.
	now        func() time.Time
	remembered *remembered
	leases     *leases
	// corrections wait for the store. Those that find no place are lost.
	corrections     chan correction
	correctionsLost atomic.Int64
	// releases wait for another attempt.
	releases releases
	// leavers left a queue, and others stood behind them.
	leavers leavers
	// successor takes over once r is closed; nil if nobody does.
	successor atomic.Pointer[Redis]
	// corrected says that no more corrections are sent: r is closed.
	corrected  atomic.Bool
	closing    chan struct{}
	closed     sync.Once
	correcting sync.WaitGroup
	running    sync.WaitGroup
}

var _ Decider = (*Redis)(nil)

// NewRedis returns a limiter on one server that connects as the options say, in the
// background, and keeps its connections open: no request waits for one to be made.
// The deadline is for the whole of a decision, waiting for a connection included.
// Close it.
func NewRedis(options *redis.Options, prefix keys.Prefix, deadline time.Duration) *Redis {
	r := newLimiter(prefix, deadline)
	r.layout.Store(&layout{only: openNode(options, prefix, deadline, nil)})
	r.start()
	return r
}

func newLimiter(prefix keys.Prefix, deadline time.Duration) *Redis {
	return &Redis{
		prefix: prefix, deadline: deadline, now: time.Now, remembered: newRemembered(), leases: newLeases(),
		corrections: make(chan correction, mostCorrections), closing: make(chan struct{}),
	}
}

func (r *Redis) start() {
	r.running.Go(r.sweep)
	r.correcting.Go(r.correctAll)
}

// Await returns once the store can be asked, or could not be reached at first,
// which takes a few times the dial timeout at most, or the context has ended.
func (r *Redis) Await(ctx context.Context) {
	if r.cluster != nil {
		r.cluster.await(ctx)
	}
	for _, n := range r.layout.Load().all() {
		n.keeper.Await(ctx)
	}
}

// Open says whether a breaker is open: the store is not asked, or a part of a cluster
// is not, and some decisions do without.
func (r *Redis) Open() bool {
	if r.cluster != nil && r.cluster.breaker.isOpen() {
		return true
	}
	return slices.ContainsFunc(r.layout.Load().all(), func(n *node) bool { return n.breaker.isOpen() })
}

// Close closes the connections, after what corrections wait were sent. Decisions fail
// from then on.
func (r *Redis) Close() {
	r.leases.endAll()
	r.returnLeases()
	r.closed.Do(func() { close(r.closing) })
	r.correcting.Wait()
	if r.cluster != nil {
		r.cluster.close()
	}
	for _, n := range r.layout.Load().all() {
		n.close()
	}
	r.running.Wait()
}

// Decide asks the store, unless it refused the same lately. Its errors are those of the
// store, for which ErrorKind has a name, ErrBreakerOpen, or one about a limit out of
// range. Fallback knows what to do where a part of a cluster gave no verdict.
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
		decision, _, err := r.decide(ctx, began, namespace, checks)
		return decision, err
	}
	if decision, spent := r.leases.spend(began, namespace, checks); spent {
		return decision, nil
	}
	checks = r.leases.ask(namespace, checks)
	decision, decided, err := r.decide(ctx, began, namespace, checks)
	r.leases.take(namespace, checks, decided, &decision)
	return decision, err
}

// decide has the store decide. There are no parts if it did not.
func (r *Redis) decide(ctx context.Context, began time.Time, namespace string, checks []Check) (Decision, []*part, error) {
	plans, err := plansFor(checks, r.now)
	if err != nil {
		return Decision{}, nil, err
	}
	q := r.newQuestion(ctx, began, namespace)
	q.split(r.prefix, r.layout.Load().isCluster(), checks, plans)
	r.ask(q)
	for i, p := range q.parts {
		r.releaseLater(namespace, p, q.errs[i])
		if q.errs[i] == nil {
			q.errs[i] = unreadable(p)
		}
	}
	var decision Decision
	if len(q.parts) == 1 {
		decision, err = r.verdict(namespace, q.parts[0], q.errs[0])
	} else {
		decision, err = r.joint(namespace, q.parts, q.errs)
	}
	if err != nil {
		return decision, nil, err
	}
	return decision, q.parts, nil
}

// verdict is what one part says.
func (r *Redis) verdict(namespace string, p *part, err error) (Decision, error) {
	if err != nil {
		return Decision{}, inTheStore(err)
	}
	decision := decisionOf(p.checks, p.plans, p.stands, Store)
	decision.StoreTime = p.at
	decision.Receipt = receiptFor(r, namespace, p.checks, p.plans, p.stands, p.at)
	if !decision.Allowed {
		r.remember(namespace, p)
	}
	return decision, nil
}

func (r *Redis) remember(namespace string, p *part) {
	r.remembered.remember(namespace, p.checks, p.plans, p.stands, p.sent, time.Now())
}

func inTheStore(err error) error {
	if errors.Is(err, ErrBreakerOpen) {
		return ErrBreakerOpen
	}
	return fmt.Errorf("decide in the store: %w", err)
}

func (r *Redis) newQuestion(ctx context.Context, began time.Time, namespace string) *question {
	deadline := began.Add(r.deadline)
	if own, ok := ctx.Deadline(); ok && own.Before(deadline) {
		deadline = own
	}
	return &question{pattern: request{ctx: ctx, namespace: namespace, deadline: deadline}}
}

// unreadable is the error about limits that the store could not decide on, since
// of their counters or its clock.
func unreadable(p *part) error {
	var found error
	for i := range p.stands {
		if p.plans[i].has(shadowed) {
			continue
		}
		if p.stands[i].outside {
			found = errors.Join(found, errOutsideCalendar)
		}
		if p.stands[i].corrupt {
			found = errors.Join(found, &corruptError{algorithm: p.checks[i].Limit.Algorithm})
		}
	}
	return found
}

// sweep looks at idle connections, old refusals and places that are to be given back,
// until r is closed.
func (r *Redis) sweep() {
	ticker := time.NewTicker(sweepEvery)
	defer ticker.Stop()
	for {
		select {
		case <-ticker.C:
			for _, n := range r.layout.Load().all() {
				n.dispatcher.sweep()
			}
			r.remembered.sweep(time.Now())
			r.leases.sweep(time.Now())
			r.returnLeases()
			r.releaseAgain()
		case <-r.closing:
			return
		}
	}
}
