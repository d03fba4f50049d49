// Copyright The Penstock Authors.
// SPDX-License-Identifier: Apache-2.0

package faults

import (
	"context"
	"errors"
	"maps"
	"sync"
	"time"

	"github.com/penstock-dev/penstock/internal/limiter"
)

// report is what a sidecar's limiter did so far.
type report struct {
	// Counters are the decisions by name of the counter.
	Counters map[string]counts
	// Waited are requests that were undecided after they had waited for the
	// deadline, or most of it.
	Waited int64
	// Openings is how often the breaker was seen to be open after it was not.
	Openings int64
	// Kinds are the undecided requests by kind of error.
	Kinds map[string]int64
	// Panics are requests that ended with one.
	Panics int64
}

// recorder gathers a report. It is also the Decider between a Fallback and the
// limiter, where it sees what the store did not decide.
type recorder struct {
	limiter  *limiter.Redis
	deadline time.Duration

	mu     sync.Mutex
	report report
	open   bool
}

var _ limiter.Decider = (*recorder)(nil)

// Decide implements limiter.Decider.
func (r *recorder) Decide(ctx context.Context, namespace string, checks []limiter.Check) (limiter.Decision, error) {
	began := time.Now()
	decision, err := r.limiter.Decide(ctx, namespace, checks)
	waited := time.Since(began) > r.deadline/2
	r.mu.Lock()
	defer r.mu.Unlock()
	open := r.limiter.Open()
	if open && !r.open {
		r.report.Openings++
	}
	r.open = open
	if err == nil || errors.Is(err, limiter.ErrBreakerOpen) {
		return decision, err
	}
	count := r.report.Counters[checks[0].Rule]
	count.Undecided++
	r.report.Counters[checks[0].Rule] = count
	r.report.Kinds[limiter.ErrorKind(err)]++
	if waited {
		r.report.Waited++
	}
	return decision, err
}

func (r *recorder) decided(name string, decision limiter.Decision) {
	r.mu.Lock()
	defer r.mu.Unlock()
	count := r.report.Counters[name]
	switch {
	case decision.Source == limiter.Store && decision.Allowed:
		count.StoreAdmitted++
	case decision.Source == limiter.Store:
		count.StoreRefused++
	case decision.Allowed:
		count.AloneAdmitted++
	default:
		count.AloneRefused++
	}
	r.report.Counters[name] = count
}

func (r *recorder) panicked() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.report.Panics++
}

func (r *recorder) read() report {
	r.mu.Lock()
	defer r.mu.Unlock()
	read := r.report
	read.Counters, read.Kinds = maps.Clone(read.Counters), maps.Clone(read.Kinds)
	return read
}
