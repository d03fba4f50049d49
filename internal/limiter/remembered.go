// Copyright The Penstock Authors.
// SPDX-License-Identifier: Apache-2.0

package limiter

import (
	"sync"
	"sync/atomic"
	"time"

	"github.com/penstock-dev/penstock/internal/ruleset"
)

const (
	// rememberedFor is how long a refusal is remembered at most. What is given back
	// or reset elsewhere shows after that.
	rememberedFor = time.Second
	// mostRefusals is how many refusals are remembered at most: about 1 MB.
	mostRefusals = 4096
)

// remembered is what the store refused lately. Until a refused request could be
// admitted, for a second at most, the same one need not ask again: clients that
// ignore refusals cost the store next to nothing. Nil remembers nothing.
type remembered struct {
	count atomic.Int64
	mu    sync.Mutex
	kept  map[counterName]refusal
}

type refusal struct {
	// limit is the limit that refused, of the rule set that was in force. A new rule
	// set has limits of its own, which these refusals say nothing about.
	limit *ruleset.Limit
	cost  int64
	plan  agingPlan
	stand standing
	// received is when the store's answer came. Counting from then, a told wait is
	// never too short.
	received time.Time
	// until is when the request could be admitted, counted from when it was sent:
	// nobody is refused for too long.
	until time.Time
}

// agingPlan is a plan that knows how a refusal wears off without being asked about.
type agingPlan interface {
	plan
	// aged is a standing some microseconds later, if nothing was charged meanwhile.
	aged(stand standing, elapsed int64) standing
	// ages is for how many microseconds aged is right about requests of a cost, at
	// least that of the plan, and they are refused. 0: it is not.
	ages(stand standing, cost int64) int64
}

func newRemembered() *remembered { return &remembered{kept: make(map[counterName]refusal)} }

// remember keeps what a request's limits refused.
func (r *remembered) remember(namespace string, checks []Check, plans []plan, stands []standing, sent, received time.Time) {
	if r == nil {
		return
	}
	for i := range stands {
		aging, known := plans[i].(agingPlan)
		if stands[i].admits || !known || aging.has(shadowed|overdrawn) {
			// Shadows refuse nothing, and what is given back counts at once.
			continue
		}
		wait := micros(aging.ages(stands[i], checks[i].Cost))
		if wait <= 0 {
			continue
		}
		r.put(nameOf(namespace, &checks[i]), refusal{
			limit: checks[i].Limit, cost: checks[i].Cost, plan: aging, stand: stands[i],
			received: received, until: sent.Add(min(wait, rememberedFor)),
		})
	}
}

func (r *remembered) put(name counterName, added refusal) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if _, known := r.kept[name]; !known && len(r.kept) >= mostRefusals {
		for other := range r.kept {
			delete(r.kept, other)
			break
		}
	}
	r.kept[name] = added
	r.count.Store(int64(len(r.kept)))
}

// decide refuses a request of which a limit would refuse as much or less. The
// states are those of the limits that refuse; nothing is known of the others.
func (r *remembered) decide(now time.Time, namespace string, checks []Check) (Decision, bool) {
	if r == nil || r.count.Load() == 0 {
		return Decision{}, false
	}
	// Mostly one limit refuses: that needs no memory from the heap.
	var oneCheck [1]Check
	var onePlan [1]plan
	var oneStand [1]standing
	refusing, plans, stands := oneCheck[:0], onePlan[:0], oneStand[:0]
	for i := range checks {
		if checks[i].Limit == nil || checks[i].Shadow {
			// A limit may be a shadow for one request and none for another.
			continue
		}
		known, found := r.get(nameOf(namespace, &checks[i]))
		if !found || known.limit != checks[i].Limit || checks[i].Cost < known.cost || !now.Before(known.until) {
			continue
		}
		made := plan(known.plan)
		if checks[i].Cost != known.cost {
			if known.plan.ages(known.stand, checks[i].Cost) == 0 {
				continue
			}
			// No clock is needed, since the store is not asked.
			var err error
			if made, err = planFor(&checks[i], nil); err != nil {
				continue
			}
		}
		refusing, plans = append(refusing, checks[i]), append(plans, made)
		stands = append(stands, known.plan.aged(known.stand, max(0, now.Sub(known.received).Microseconds())))
	}
	if len(refusing) == 0 {
		return Decision{}, false
	}
	return decisionOf(refusing, plans, stands, Store), true
}

func (r *remembered) get(name counterName) (refusal, bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	known, found := r.kept[name]
	return known, found
}

// sweep forgets what is over, and with it the rule sets of old.
func (r *remembered) sweep(now time.Time) {
	if r == nil {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	for name, known := range r.kept {
		if !now.Before(known.until) {
			delete(r.kept, name)
		}
	}
	r.count.Store(int64(len(r.kept)))
}
