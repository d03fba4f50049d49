// Copyright The Penstock Authors.
// SPDX-License-Identifier: Apache-2.0

package limiter

import (
	"context"
	"slices"
	"time"
)

const (
	// mostCorrections is how many corrections wait for the store at most.
	mostCorrections = 4096
	// leaveFor bounds how long corrections are still sent while a limiter is closed.
	leaveFor = time.Second
	// lastTurns are enough for each release to be sent that waits for one.
	lastTurns = 3
)

// CorrectionsLost is how many corrections never reached the store, or were not made
// there: its counts are higher or lower than they should be by so many, until they
// wear off.
func (r *Redis) CorrectionsLost() int64 { return r.correctionsLost.Load() }

// correct has corrections sent, in this order, and does not wait for that.
func (r *Redis) correct(namespace string, corrections []correction) {
	for _, c := range corrections {
		c.name, c.namespace = r.prefix.Counter(namespace, c.identity, c.limit), namespace
		if c.until.IsZero() {
			c.until = time.Now().Add(leaseFor)
		}
		r.enqueue(c)
	}
}

func (r *Redis) enqueue(c correction) {
	if r.corrected.Load() {
		r.passOn(c)
		return
	}
	select {
	case r.corrections <- c:
	default:
		r.again(c)
	}
}

// correctAll sends corrections, one call after the other, until r is closed and what
// waits has been sent.
func (r *Redis) correctAll() {
	for {
		select {
		case c := <-r.corrections:
			r.sendCorrections(c)
		case <-r.closing:
			r.correctLast()
			return
		}
	}
}

// correctLast sends what waits, as far as there is time, and leaves the rest to whoever
// takes over.
func (r *Redis) correctLast() {
	until := time.Now().Add(leaveFor)
	for range lastTurns {
		r.releaseAgain()
		for len(r.corrections) > 0 && time.Now().Before(until) {
			r.sendCorrections(<-r.corrections)
		}
	}
	r.corrected.Store(true)
	for range lastTurns {
		r.releaseAgain()
	}
	for range mostCorrections {
		select {
		case c := <-r.corrections:
			r.passOn(c)
		default:
			return
		}
	}
}

// sendCorrections sends a correction, and those that wait behind it, in one call to
// each node. Slots of a queue that can be given back after that follow.
func (r *Redis) sendCorrections(first correction) {
	corrections, weight := []correction{first}, first.plan.weight()
	for len(r.corrections) > 0 && weight < checksPerCall {
		next := <-r.corrections
		corrections, weight = append(corrections, next), weight+next.plan.weight()
	}
	// Each turn makes corrections that are not sent again, so this ends.
	for row := r.sendTogether(corrections); len(row) > 0; {
		several := min(len(row), checksPerCall)
		row = append(row[several:], r.sendTogether(row[:several])...)
	}
}

// sendTogether sends corrections and returns those that they make possible.
func (r *Redis) sendTogether(corrections []correction) (possible []correction) {
	q := r.newQuestion(context.Background(), time.Now(), corrections[0].namespace)
	q.splitCorrections(r.layout.Load().isCluster(), corrections)
	r.ask(q)
	lost := 0
	for i, p := range q.parts {
		if q.errs[i] != nil {
			for _, c := range p.corrections {
				r.again(c)
			}
			continue
		}
		lost += p.undone
		possible = append(possible, r.leave(p)...)
	}
	r.correctionsLost.Add(int64(lost))
	return possible
}

// leave remembers the slots behind which others stand, and returns those that were
// remembered and behind which nobody stands any more.
func (r *Redis) leave(p *part) (free []correction) {
	for _, i := range p.behind {
		r.leavers.add(p.corrections[i])
	}
	for i := range p.corrections {
		if !slices.Contains(p.behind, i) {
			free = append(free, r.leavers.before(&p.corrections[i])...)
		}
	}
	return free
}
