// Copyright The Penstock Authors.
// SPDX-License-Identifier: Apache-2.0

package limiter

import (
	"encoding/base64"
	"encoding/binary"
	"math/rand/v2"
	"slices"
	"strconv"
	"time"
)

const (
	// leaseFor is how long a place is held by a request that is not heard of again.
	leaseFor = 30 * time.Second
	// renewEvery is how often a request is heard of while it is being answered.
	renewEvery = leaseFor / 3
	// hintMicros is how long a refused request is told to wait. Nobody knows when a
	// place gets free.
	hintMicros = int64(time.Second / time.Microsecond)
)

// places are a Concurrency limit: so many requests at once. A request holds its
// places under a name of its own until it gives them back, or was not heard of for
// the length of a lease.
type places struct {
	terms
	requests, cost, lease int64
	holder                string
}

// place is one of those that are held, and until when.
type place struct {
	holder string
	until  int64
}

func newPlaces(terms terms, requests, cost int64) *places {
	made := &places{terms: terms, requests: requests, cost: cost, lease: leaseFor.Microseconds()}
	if cost > 0 {
		made.holder = newHolder()
	}
	return made
}

// newHolder is a name that no other request has, and that is no number.
func newHolder() string {
	var random [15]byte
	binary.LittleEndian.PutUint64(random[:8], rand.Uint64())
	binary.LittleEndian.PutUint64(random[7:], rand.Uint64())
	return "@" + base64.RawURLEncoding.EncodeToString(random[:])
}

func (p *places) free() bool { return p.cost == 0 }

func (p *places) same(other plan) bool { return sameAs(p, other) }

func (p *places) appendArguments(arguments []any) []any {
	// The holder counts as one more argument.
	return append(arguments, "places", 5, int64(p.flags), p.capped(), p.requests, p.lease, p.holder)
}

// capped is the cost, or one that is refused as well.
func (p *places) capped() int64 { return min(p.cost, p.requests+1) }

func (p *places) parts() int { return 3 }

// weight counts the places: the store writes down each.
func (p *places) weight() int {
	if p.cost > p.requests {
		return 1
	}
	return 1 + int(p.cost)
}

// stand is decide.lua's part for places: change both together.
func (p *places) stand(stored state, now int64) standing {
	count := int64(0)
	for _, held := range stored.held {
		if held.until > now {
			count++
		}
	}
	return standing{admits: p.cost <= p.requests-count, first: count}
}

func (p *places) charge(stored state, _ standing, now int64) state {
	stored.held = p.present(stored.held, now)
	return p.take(stored, now)
}

// present are the places that are held still.
func (p *places) present(held []place, now int64) []place {
	return slices.DeleteFunc(held, func(held place) bool { return held.until <= now })
}

// take has the holder hold its places until a lease from now.
func (p *places) take(stored state, now int64) state {
	held := p.leave(stored)
	for i := range p.cost {
		held = append(held, place{holder: p.member(i), until: now + p.lease})
	}
	return state{until: max(stored.until, now+p.lease), held: held}
}

// leave is who holds places besides the holder.
func (p *places) leave(stored state) []place {
	mine := make(map[string]bool, p.cost)
	for i := range p.cost {
		mine[p.member(i)] = true
	}
	return slices.DeleteFunc(stored.held, func(held place) bool { return mine[held.holder] })
}

// member is the name of one of the holder's places.
func (p *places) member(i int64) string {
	if i == 0 {
		return p.holder
	}
	return p.holder + ":" + strconv.FormatInt(i+1, 10)
}

// cut brings back leases that a clock left that stepped back, once they stand in
// anyone's way.
func (p *places) cut(stored state, stand standing, now int64) (state, bool) {
	latest := now + p.lease
	late := func(held place) bool { return held.until > latest }
	if stand.admits || !slices.ContainsFunc(stored.held, late) {
		return stored, false
	}
	stored.until = latest
	for i := range stored.held {
		stored.held[i].until = min(stored.held[i].until, latest)
	}
	return stored, true
}

func (p *places) report(stand standing, charged bool) report {
	count := stand.first
	told := report{never: p.cost > p.requests}
	if !stand.admits && !told.never {
		told.retryAfter = hintMicros
	}
	if charged {
		count += p.cost
	}
	told.remaining = max(0, p.requests-count)
	if count > 0 {
		told.resetAfter, told.nextAfter = hintMicros, hintMicros
	}
	return told
}

func (p *places) appendCorrection(arguments []any, _ standing) []any {
	return p.appendArguments(arguments)
}

// back gives the places back. Doing so twice changes nothing.
func (p *places) back(stored state, _ standing, _, _ int64) state {
	return state{until: stored.until, held: p.leave(stored)}
}

// late says that the holder is still there. A lease that ran out begins again, since
// the request is being answered all the same.
func (p *places) late(stored state, now int64) state { return p.take(stored, now) }

func (p *places) costing(cost int64) plan {
	other := *p
	other.cost = cost
	return &other
}
