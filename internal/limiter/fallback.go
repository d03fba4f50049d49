// Copyright The Penstock Authors.
// SPDX-License-Identifier: Apache-2.0

package limiter

import (
	"context"
	"errors"
	"time"

	"github.com/penstock-dev/penstock/internal/ruleset"
)

// FallbackOptions are all optional.
type FallbackOptions struct {
	// Now is the clock of local decisions; absent is time.Now.
	Now func() time.Time
	// MaxKeys bounds the local counters; absent is DefaultMemoryKeys.
	MaxKeys int
	// OnStoreError is told the kind of each error of the store. It is not called
	// for decisions made while the breaker is open.
	OnStoreError func(kind string)
}

// Fallback asks a Decider, and does what each rule asked for when that cannot
// decide. It never returns an error.
type Fallback struct {
	next         Decider
	local        *Memory
	onStoreError func(kind string)
}

var _ Decider = (*Fallback)(nil)

// WithFallback returns a limiter that always decides.
func WithFallback(next Decider, options FallbackOptions) *Fallback {
	f := &Fallback{next: next, local: NewMemory(options.Now, options.MaxKeys), onStoreError: options.OnStoreError}
	if f.onStoreError == nil {
		f.onStoreError = func(string) {}
	}
	return f
}

// Decide decides, by the store if it can. The error is always nil.
func (f *Fallback) Decide(ctx context.Context, namespace string, checks []Check) (Decision, error) {
	decision, err := f.next.Decide(ctx, namespace, checks)
	if err == nil {
		return decision, nil
	}
	left := errors.Is(ctx.Err(), context.Canceled)
	if !errors.Is(err, ErrBreakerOpen) && !left {
		f.onStoreError(ErrorKind(err))
	}
	if partial, ok := errors.AsType[*partialError](err); ok {
		return partial.complete(f.decideAlone(namespace, partial.undecided)), nil
	}
	return f.decideAlone(namespace, distinct(checks)), nil
}

// Forgotten is Memory.Forgotten of what is counted here.
func (f *Fallback) Forgotten() int64 { return f.local.Forgotten() }

// decideAlone decides without the store. All or nothing holds here too: where a
// rule denies, nothing is charged.
func (f *Fallback) decideAlone(namespace string, checks []Check) Decision {
	var counted, allowed, denied []Check
	var plans []plan
	for _, check := range checks {
		made, err := shareFor(&check)
		switch {
		case check.OnStoreFailure == ruleset.FailAllow, check.Shadow && (check.OnStoreFailure == ruleset.FailDeny || err != nil):
			allowed = append(allowed, check)
		case check.OnStoreFailure == ruleset.FailDeny || err != nil:
			denied = append(denied, check)
		default:
			counted, plans = append(counted, check), append(plans, made)
		}
	}
	if len(denied) > 0 {
		return Decision{Source: StoreDenied, Limits: uncounted(denied, StoreDenied)}
	}
	if len(counted) == 0 {
		return Decision{Allowed: true, Source: StoreAllowed, Limits: uncounted(allowed, StoreAllowed)}
	}
	decision := f.local.decide(namespace, counted, plans, Local)
	for i := range decision.Limits {
		// Looseness may leave more to this process than the whole limit, which nobody
		// understands beside it.
		state := &decision.Limits[i]
		state.Remaining = min(state.Remaining, state.Burst)
	}
	decision.Limits = append(decision.Limits, uncounted(allowed, StoreAllowed)...)
	return decision
}

// uncounted are the states of limits that nobody counted for this request.
func uncounted(checks []Check, source Source) []LimitState {
	states := make([]LimitState, 0, len(checks))
	for i := range checks {
		state := stateOf(&checks[i], source)
		state.Allowed = source == StoreAllowed
		states = append(states, state)
	}
	return states
}
