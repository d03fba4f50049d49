// Copyright The Penstock Authors.
// SPDX-License-Identifier: Apache-2.0

package limiter

import (
	"errors"
	"slices"
)

// partialError says that a part of a request's limits admitted it, and was charged,
// and that there is no verdict on the others.
type partialError struct {
	cause error
	// undecided are the checks without a verdict.
	undecided []Check
	// decision is that of the others, without its receipt.
	decision Decision
	// receipt is for what they were charged. It is made only for a request that goes
	// on: a receipt renews its places until it is settled.
	receipt func() *Receipt
	// giveBack has their charges given back.
	giveBack func()
}

func (e *partialError) Error() string { return e.cause.Error() }

// Unwrap is why there is no verdict.
func (e *partialError) Unwrap() error { return e.cause }

// complete is the decision of all limits, given one on those without a verdict.
func (e *partialError) complete(rest Decision) Decision {
	if !rest.Allowed {
		e.giveBack()
		return rest
	}
	whole := e.decision
	whole.Source = rest.Source
	whole.Delay = max(whole.Delay, rest.Delay)
	whole.Receipt = e.receipt().with(rest.Receipt)
	counted := rest.Source == Local && len(rest.Limits) > 0
	if counted && len(whole.Limits) > 0 && rest.Limits[0].Remaining < whole.Limits[0].Remaining {
		whole.Limits = slices.Concat(rest.Limits, whole.Limits)
	} else {
		whole.Limits = slices.Concat(whole.Limits, rest.Limits)
	}
	return whole
}

// joint is what several parts say together, each with an error or a verdict of its own.
// A part that admits was charged; if another one refuses, that is given back.
func (r *Redis) joint(namespace string, parts []*part, errs []error) (Decision, error) {
	var decided, charged []*part
	var undecided []Check
	var cause error
	for i, p := range parts {
		switch {
		case errs[i] != nil:
			undecided = append(undecided, p.checks...)
			cause = graver(cause, errs[i])
		case allAdmit(p.plans, p.stands):
			decided, charged = append(decided, p), append(charged, p)
		default:
			decided = append(decided, p)
		}
	}
	giveBack := func() {
		for _, p := range charged {
			r.giveBack(namespace, p)
		}
	}
	if len(charged) < len(decided) {
		giveBack()
		for _, p := range decided {
			r.remember(namespace, p)
			for i := range p.stands {
				p.stands[i].advance = 0
			}
		}
		return together(decided), nil
	}
	if len(decided) == 0 {
		return Decision{}, inTheStore(cause)
	}
	decision := together(decided)
	receipt := func() (whole *Receipt) {
		for _, p := range decided {
			whole = whole.with(receiptFor(r, namespace, p.checks, p.plans, p.stands, p.at))
		}
		return whole
	}
	if cause == nil {
		decision.Receipt = receipt()
		return decision, nil
	}
	return Decision{}, &partialError{
		cause: inTheStore(cause), undecided: undecided, decision: decision, receipt: receipt, giveBack: giveBack,
	}
}

// graver is which of two errors tells more: an open breaker says that the others told
// before.
func graver(one, other error) error {
	if one == nil || errors.Is(one, ErrBreakerOpen) {
		return other
	}
	return one
}

// together is one decision of several parts with a verdict.
func together(parts []*part) Decision {
	var checks []Check
	var plans []plan
	var stands []standing
	at := int64(0)
	for _, p := range parts {
		checks, plans, stands = append(checks, p.checks...), append(plans, p.plans...), append(stands, p.stands...)
		at = max(at, p.at)
	}
	decision := decisionOf(checks, plans, stands, Store)
	decision.StoreTime = at
	return decision
}

// giveBack has the charges of a part given back, as far as they still count.
func (r *Redis) giveBack(namespace string, p *part) {
	var corrections []correction
	for i := range p.checks {
		if !p.stands[i].admits || p.plans[i].free() {
			continue
		}
		charged := p.plans[i]
		if charged.has(leased) {
			// What was charged in advance goes back as well.
			check := p.checks[i]
			check.Cost, check.share = check.Cost+p.stands[i].advance, 0
			var err error
			if charged, err = planFor(&check, r.now); err != nil {
				r.correctionsLost.Add(1)
				continue
			}
		}
		corrections = append(corrections, correction{
			kind: giveBack, identity: p.checks[i].Identity, limit: p.checks[i].Limit.Key,
			plan: charged, charged: p.at, stand: p.stands[i],
		})
	}
	r.correct(namespace, corrections)
}
