// Copyright The Penstock Authors.
// SPDX-License-Identifier: Apache-2.0

package limiter

import (
	"errors"
	"sync"
	"time"

	"github.com/redis/go-redis/v9"
)

// releases are places of requests that are over, which could not be given back yet.
// Giving back a place twice changes nothing, so that is tried again and again until
// its lease has run out: else a store that hangs for a moment would count its places
// as held for half a minute more, and refuse everybody.
type releases struct {
	mu sync.Mutex
	// fresh came since the last time that some were taken, and due are those before:
	// each waits for one turn at least.
	fresh, due []correction
}

// add keeps a release, and says whether there was room.
func (r *releases) add(c correction) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	if len(r.fresh)+len(r.due) >= mostCorrections {
		return false
	}
	r.fresh = append(r.fresh, c)
	return true
}

// take returns what has waited for one turn.
func (r *releases) take() []correction {
	r.mu.Lock()
	defer r.mu.Unlock()
	taken := r.due
	r.due, r.fresh = r.fresh, nil
	return taken
}

// isRelease says that a correction gives back places.
func (c *correction) isRelease() bool {
	_, holds := c.plan.(*places)
	return holds && c.kind == giveBack
}

// releaseLater has places given back that a request may hold to which no answer came:
// its client has left, or the store was too slow. Its call may be under way still, so
// this waits for a turn.
func (r *Redis) releaseLater(namespace string, p *part, err error) {
	if !mayHaveCharged(err) {
		return
	}
	for i := range p.checks {
		c := correction{
			kind: giveBack, identity: p.checks[i].Identity, limit: p.checks[i].Limit.Key,
			plan: p.plans[i], until: time.Now().Add(leaseFor),
		}
		if c.isRelease() && !c.plan.free() {
			c.namespace, c.name = namespace, r.prefix.Counter(namespace, c.identity, c.limit)
			r.again(c)
		}
	}
}

// mayHaveCharged says whether a request to which no answer came may have been charged
// nevertheless. An error that the store replied says that it was not.
func mayHaveCharged(err error) bool {
	var reply redis.Error
	var unsent unsentError
	switch {
	case err == nil, errors.As(err, &reply), errors.As(err, &unsent):
		return false
	default:
		return !errors.Is(err, ErrBreakerOpen) && !errors.Is(err, errNoConnection) && !errors.Is(err, errCrowded)
	}
}

// again keeps a release that did not reach the store for the next turn. Any other
// correction is lost, since one that arrived twice would count twice.
func (r *Redis) again(c correction) {
	if !c.isRelease() || !time.Now().Before(c.until) || !r.releases.add(c) {
		r.correctionsLost.Add(1)
	}
}

// releaseAgain sends what waited for a turn.
func (r *Redis) releaseAgain() {
	for _, c := range r.releases.take() {
		r.enqueue(c)
	}
}

// HandOver has another limiter take over the places that requests hold which this one
// admitted, as they are answered still: it renews them and gives them back once this
// one is closed. Call it before Close.
func (r *Redis) HandOver(successor *Redis) { r.successor.Store(successor) }

// passOn has a correction made by whoever took over, if it is about places: what else
// was charged is none of a store's business that did not charge it.
func (r *Redis) passOn(c correction) {
	_, holds := c.plan.(*places)
	if successor := r.successor.Load(); holds && successor != nil {
		successor.correct(c.namespace, []correction{c})
		return
	}
	r.correctionsLost.Add(1)
}
