// Copyright The Penstock Authors.
// SPDX-License-Identifier: Apache-2.0

package limiter

import (
	"context"
	"time"
)

const (
	// mostCorrections is how many corrections wait for the store at most.
	mostCorrections = 4096
	// leaveFor bounds how long corrections are still sent while a limiter is closed.
	leaveFor = time.Second
)

// CorrectionsLost is how many corrections never reached the store, or were not made
// there: its counts are higher or lower than they should be by so many, until they
// wear off.
func (r *Redis) CorrectionsLost() int64 { return r.correctionsLost.Load() }

// correct has corrections sent, in this order, and does not wait for that.
func (r *Redis) correct(namespace string, corrections []correction) {
	if r.corrected.Load() {
		r.correctionsLost.Add(int64(len(corrections)))
		return
	}
	for _, c := range corrections {
		c.name = r.prefix.Counter(namespace, c.identity, c.limit)
		c.namespace = namespace
		select {
		case r.corrections <- c:
		default:
			r.correctionsLost.Add(1)
		}
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
			until := time.Now().Add(leaveFor)
			for len(r.corrections) > 0 && time.Now().Before(until) {
				r.sendCorrections(<-r.corrections)
			}
			r.corrected.Store(true)
			r.loseCorrections()
			return
		}
	}
}

// loseCorrections counts those that wait, which nobody will send any more.
func (r *Redis) loseCorrections() {
	for range mostCorrections {
		select {
		case <-r.corrections:
			r.correctionsLost.Add(1)
		default:
			return
		}
	}
}

// sendCorrections sends a correction, and those that wait behind it, in one call to
// each node.
func (r *Redis) sendCorrections(first correction) {
	corrections := []correction{first}
	for len(r.corrections) > 0 && len(corrections) < checksPerCall {
		corrections = append(corrections, <-r.corrections)
	}
	q := r.newQuestion(context.Background(), time.Now(), first.namespace)
	q.splitCorrections(r.layout.Load().isCluster(), corrections)
	r.ask(q)
	lost := 0
	for i, p := range q.parts {
		if q.errs[i] != nil {
			lost += len(p.names)
			continue
		}
		lost += p.undone
	}
	r.correctionsLost.Add(int64(lost))
}
