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
	for _, c := range corrections {
		c.name = r.prefix.Counter(namespace, c.identity, c.limit)
		c.namespace = namespace
		if !r.take(c) {
			r.correctionsLost.Add(1)
		}
	}
}

// take has a correction wait for its turn, unless there is no place or nobody sends
// any more: the request that it is of may outlive the limiter.
func (r *Redis) take(c correction) bool {
	select {
	case <-r.closing:
		return false
	default:
	}
	select {
	case r.corrections <- c:
		return true
	default:
		return false
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
			r.correctionsLost.Add(int64(len(r.corrections)))
			return
		}
	}
}

// sendCorrections sends a correction, and those that wait behind it, in one call.
func (r *Redis) sendCorrections(first correction) {
	corrections, names := []correction{first}, []string{first.name}
	for len(r.corrections) > 0 && len(corrections) < checksPerCall {
		next := <-r.corrections
		corrections, names = append(corrections, next), append(names, next.name)
	}
	lost := len(corrections)
	if !r.breaker.isOpen() {
		asked := r.newRequest(context.Background(), time.Now(), first.namespace, names, nil)
		asked.corrections = corrections
		if r.dispatcher.do(asked) == nil {
			lost = asked.undone
		}
	}
	r.correctionsLost.Add(int64(lost))
}
