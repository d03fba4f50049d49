// Copyright The Penstock Authors.
// SPDX-License-Identifier: Apache-2.0

package limiter

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/penstock-dev/penstock/internal/keys"
)

// Redis decides in a shared store: one script call per request, on the store's
// clock, never repeated. While the store fails repeatedly it is not asked, and a
// probe in the background finds out when it is back.
type Redis struct {
	client   redis.UniversalClient
	prefix   keys.Prefix
	deadline time.Duration
	script   script
	// now is this machine's clock, of which no verdict depends.
	now     func() time.Time
	breaker breaker
	closing chan struct{}
	closed  sync.Once
	probing sync.WaitGroup
}

var _ Decider = (*Redis)(nil)

// NewRedis returns a limiter on a client for redisconn.Deciding. The deadline is
// for the whole of a decision, waiting for a connection included. Close it to
// end its probe; the client stays the caller's.
func NewRedis(client redis.UniversalClient, prefix keys.Prefix, deadline time.Duration) *Redis {
	return &Redis{
		client: client, prefix: prefix, deadline: deadline,
		script: newScript(decideText), now: time.Now, closing: make(chan struct{}),
	}
}

// Open says whether the breaker is open: the store is not asked.
func (r *Redis) Open() bool { return r.breaker.isOpen() }

// Close ends the probe of an open breaker. Decisions remain possible.
func (r *Redis) Close() {
	r.closed.Do(func() { close(r.closing) })
	r.probing.Wait()
}

// Decide asks the store. Its errors are those of the store, for which ErrorKind
// has a name, ErrBreakerOpen, or one about a limit out of range.
func (r *Redis) Decide(ctx context.Context, namespace string, checks []Check) (Decision, error) {
	if len(checks) == 0 {
		return Decision{Allowed: true}, nil
	}
	checks = distinct(checks)
	plans, err := plansFor(checks, r.now)
	if err != nil {
		return Decision{}, err
	}
	if r.breaker.isOpen() {
		return Decision{}, ErrBreakerOpen
	}
	names := make([]string, len(checks))
	for i := range checks {
		names[i] = r.prefix.Counter(namespace, checks[i].Identity, checks[i].Limit.Key)
	}
	began := time.Now()
	stands, err := r.ask(ctx, names, plans)
	if r.breaker.record(r.counts(ctx, err, time.Since(began))) {
		r.startProbe(namespace)
	}
	if err != nil {
		return Decision{}, fmt.Errorf("decide in the store: %w", err)
	}
	return decisionOf(checks, plans, stands, Store), nil
}

func (r *Redis) ask(ctx context.Context, names []string, plans []plan) ([]standing, error) {
	arguments := make([]any, 0, 6*len(plans))
	for _, made := range plans {
		arguments = made.appendArguments(arguments)
	}
	ctx, cancel := context.WithTimeout(ctx, r.deadline)
	defer cancel()
	reply, err := r.script.run(ctx, r.client, names, arguments)
	if err != nil {
		return nil, err
	}
	stands, err := standingsOf(reply, plans)
	if err == nil && slices.ContainsFunc(stands, func(s standing) bool { return s.outside }) {
		return nil, errOutsideCalendar
	}
	return stands, err
}

// lateness is how much later than planned a deadline may fire before we take it
// that we were paused, not the store.
const lateness = 5 * time.Millisecond

// counts says how a call counts for the breaker.
func (r *Redis) counts(ctx context.Context, err error, took time.Duration) outcome {
	switch {
	case err == nil:
		return succeeded
	case isCorrupt(err), errors.Is(err, errOutsideCalendar), errors.Is(ctx.Err(), context.Canceled):
		return silent
	case ErrorKind(err) == KindTimeout && took > r.deadline+lateness:
		return silent
	default:
		return failed
	}
}
