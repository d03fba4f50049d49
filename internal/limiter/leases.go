// Copyright The Penstock Authors.
// SPDX-License-Identifier: Apache-2.0

package limiter

import (
	"slices"
	"sync"
	"time"

	"github.com/penstock-dev/penstock/internal/ruleset"
)

const (
	// leaseLongest is how long a lease may be spent at most; a tenth of its window if
	// that is shorter.
	leaseLongest = time.Second
	// mostLeases is how many leases are kept at most: about 2 MB.
	mostLeases = 4096
)

// leases are requests that the store was charged for in advance, to be spent without
// asking it. What is not spent in time is given back: until then limits may admit less
// than they say. And what is spent a moment after it was charged may come on top of
// what the store admits by then: so they may admit more, by the leases that are out.
type leases struct {
	mu   sync.Mutex
	kept map[counterName]lease
	// over are leases with something left that nobody can spend any more, at most
	// mostLeases.
	over []lease
	// lost is how many found no place there.
	lost int64
}

// lease is for one limit and identity.
type lease struct {
	// limit is that of the rule set that was in force.
	limit *ruleset.Limit
	// left is how many requests can be spent until then.
	left  int64
	until time.Time
	// state is how the limit stood with the lease charged, when the answer came.
	state    LimitState
	received time.Time
	// namespace and check are whose it is, and charged is when it was charged by the
	// store's clock, as the limit stood then.
	namespace string
	check     Check
	charged   int64
	stand     standing
	// asked says that a request is on its way to take the next lease: one is enough.
	asked bool
}

func newLeases() *leases { return &leases{kept: make(map[counterName]lease)} }

// leasable says whether leases can decide on a request: on all of its limits.
func leasable(checks []Check) bool {
	return !slices.ContainsFunc(checks, func(c Check) bool { return !c.leasable() })
}

func (c *Check) leasable() bool {
	if !c.Leased || c.Correctable || c.Cost < 1 || c.Limit == nil {
		return false
	}
	return c.Limit.Algorithm != ruleset.LeakyBucket && c.Limit.Algorithm != ruleset.Concurrency
}

// spend admits a request if there is a lease for all of its limits.
func (l *leases) spend(now time.Time, namespace string, checks []Check) (Decision, bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for i := range checks {
		known := l.kept[nameOf(namespace, &checks[i])]
		if known.limit != checks[i].Limit || known.left < checks[i].Cost || !now.Before(known.until) {
			return Decision{}, false
		}
	}
	found := make([]ranked, len(checks))
	for i := range checks {
		name := nameOf(namespace, &checks[i])
		known := l.kept[name]
		known.left -= checks[i].Cost
		l.kept[name] = known
		state := known.stateAt(now)
		state.Shadow, state.Drawn = checks[i].Shadow, checks[i].Drawn
		found[i] = rankedAs(state, &checks[i])
	}
	return decisionFrom(true, found, Store), true
}

// stateAt is how the limit stands: what is left of the lease remains as well.
func (l *lease) stateAt(now time.Time) LimitState {
	state, since := l.state, now.Sub(l.received)
	state.Remaining = min(state.Remaining+l.left, max(state.Burst, state.Requests))
	state.ResetAfter, state.NextAfter = max(0, state.ResetAfter-since), max(0, state.NextAfter-since)
	return state
}

// ask has a request that the store decides take leases: those that no other request
// is on its way for. It returns the checks to decide on.
func (l *leases) ask(namespace string, checks []Check) []Check {
	l.mu.Lock()
	defer l.mu.Unlock()
	asking := slices.Clone(checks)
	for i := range asking {
		name := nameOf(namespace, &asking[i])
		known, found := l.kept[name]
		if known.asked {
			continue
		}
		if !found && len(l.kept) >= mostLeases {
			l.forgetOne()
		}
		if known.limit != asking[i].Limit {
			l.end(known)
			known = lease{limit: asking[i].Limit}
		}
		known.asked = true
		l.kept[name] = known
		asking[i].share = leasesPerPod * min(max(asking[i].LivePods, 1), maxShareFactor)
	}
	return asking
}

func (l *leases) forgetOne() {
	for name, known := range l.kept {
		l.end(known)
		delete(l.kept, name)
		return
	}
}

// end has what is left of a lease given back.
func (l *leases) end(over lease) {
	switch {
	case over.left == 0:
	case len(l.over) < mostLeases:
		l.over = append(l.over, over)
	default:
		l.lost++
	}
}

// takeOver are the leases to give back, each once, and how many were lost.
func (l *leases) takeOver() (over []lease, lost int64) {
	l.mu.Lock()
	defer l.mu.Unlock()
	over, lost = l.over, l.lost
	l.over, l.lost = nil, 0
	return over, lost
}

// take keeps the leases of a request that asked for some, given the parts that the
// store decided on. There are none if it refused the request or could not decide.
func (l *leases) take(namespace string, checks []Check, decided []*part, decision *Decision) {
	now := time.Now()
	l.mu.Lock()
	defer l.mu.Unlock()
	for i := range checks {
		if checks[i].share == 0 {
			continue
		}
		name := nameOf(namespace, &checks[i])
		known := l.kept[name]
		known.asked = false
		l.kept[name] = known
	}
	if !decision.Allowed {
		return
	}
	for _, p := range decided {
		for i := range p.checks {
			if p.stands[i].advance > 0 {
				l.keep(namespace, p, i, now, decision)
			}
		}
	}
}

// keep keeps the lease that a part of a request took for one of its checks.
func (l *leases) keep(namespace string, p *part, number int, received time.Time, decision *Decision) {
	check, stand := &p.checks[number], p.stands[number]
	state := decision.Limits[slices.IndexFunc(decision.Limits, func(s LimitState) bool { return s.isOf(check) })]
	state.Remaining -= stand.advance
	name := nameOf(namespace, check)
	l.end(l.kept[name])
	l.kept[name] = lease{
		namespace: namespace, check: *check, charged: p.at, stand: stand,
		limit: check.Limit, left: stand.advance, received: received, state: state,
		until: p.sent.Add(leaseFrom(check.Limit, stand)),
	}
}

// leaseFrom is how long a lease may be spent. It ends with the window that it was
// charged to.
func leaseFrom(limit *ruleset.Limit, stand standing) time.Duration {
	longest := min(micros(windowOf(limit))/10, leaseLongest)
	switch limit.Algorithm {
	case ruleset.FixedWindow:
		return min(longest, micros(stand.second))
	case ruleset.SlidingWindowCounter:
		return min(longest, micros(limit.WindowMicros-stand.third))
	default:
		return longest
	}
}

// sweep ends leases whose time is over.
func (l *leases) sweep(now time.Time) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for name, known := range l.kept {
		if now.Before(known.until) {
			continue
		}
		l.end(known)
		known.left = 0
		l.kept[name] = known
		if !known.asked {
			delete(l.kept, name)
		}
	}
}

// endAll ends all leases: the process does.
func (l *leases) endAll() {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, known := range l.kept {
		l.end(known)
	}
	clear(l.kept)
}

// returnLeases gives back what was leased and not spent.
func (r *Redis) returnLeases() {
	ended, lost := r.leases.takeOver()
	r.correctionsLost.Add(lost)
	for _, over := range ended {
		unspent := over.check
		unspent.Cost, unspent.share = over.left, 0
		made, err := planFor(&unspent, r.now)
		if err != nil {
			r.correctionsLost.Add(1)
			continue
		}
		r.correct(over.namespace, []correction{{
			kind: giveBack, identity: unspent.Identity, limit: unspent.Limit.Key,
			plan: made, charged: over.charged, stand: over.stand,
		}})
	}
}
