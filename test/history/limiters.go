// Copyright The Penstock Authors.
// SPDX-License-Identifier: Apache-2.0

package history

import (
	"context"

	"github.com/redis/go-redis/v9"

	"github.com/penstock-dev/penstock/internal/keys"
	"github.com/penstock-dev/penstock/internal/limiter"
	"github.com/penstock-dev/penstock/internal/ruleset"
)

// limiters are those that a process asks.
type limiters struct {
	// asking is asked every time; remembering refuses what it refused lately.
	asking, remembering *limiter.Redis
	// holding is asked for places of Concurrency limits, and answers tells when they
	// were given back.
	holding *limiter.Redis
	answers *answers
}

func connect(ctx context.Context, store string) (*limiters, error) {
	l := &limiters{answers: &answers{}}
	relayed, err := l.answers.relay(ctx, store)
	if err != nil {
		return nil, err
	}
	l.asking, l.remembering, l.holding = newLimiter(store), newLimiter(store), newLimiter(relayed)
	for _, made := range l.all() {
		made.Await(ctx)
	}
	return l, nil
}

func newLimiter(store string) *limiter.Redis {
	return limiter.NewRedis(&redis.Options{
		Addr: store, Protocol: 2, MaxRetries: -1, ContextTimeoutEnabled: true,
		DialTimeout: patience, ReadTimeout: patience, WriteTimeout: patience,
	}, keys.DefaultPrefix, patience)
}

func (l *limiters) all() []*limiter.Redis {
	return []*limiter.Redis{l.asking, l.remembering, l.holding}
}

// close has all that was given back sent first.
func (l *limiters) close() {
	for _, made := range l.all() {
		made.Close()
	}
}

// decide asks the limiter that is meant for the checks. One that is not to remember
// refusals gets copies of the limits, as if the rule set were new.
func (l *limiters) decide(ctx context.Context, checks []limiter.Check, remember bool) (limiter.Decision, error) {
	chosen := l.asking
	if remember {
		chosen = l.remembering
	}
	for i := range checks {
		if checks[i].Limit.Algorithm == ruleset.Concurrency {
			chosen, remember = l.holding, false
		}
	}
	for i := range checks {
		if !remember {
			copied := *checks[i].Limit
			checks[i].Limit = &copied
		}
	}
	return chosen.Decide(ctx, "shop", checks)
}
