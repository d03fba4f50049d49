// Copyright The Penstock Authors.
// SPDX-License-Identifier: Apache-2.0

package proxy

import (
	"context"
	"slices"
	"time"

	"github.com/penstock-dev/penstock/internal/limiter"
	"github.com/penstock-dev/penstock/internal/match"
	"github.com/penstock-dev/penstock/internal/ruleset"
)

// Decider decides whether a request may pass. A verdict is never an error: an
// error says that there is none.
type Decider interface {
	Decide(ctx context.Context, namespace string, checks []limiter.Check) (limiter.Decision, error)
}

// checksFor lists the limits of all rules that a request meets now.
func checksFor(rules *inForce, hits []match.Hit, now time.Time) []limiter.Check {
	count := 0
	for i := range hits {
		count += len(hits[i].Limits)
	}
	checks := make([]limiter.Check, 0, count)
	for i := range hits {
		policy, rule := hits[i].Policy, hits[i].Rule
		for j := range hits[i].Limits {
			limit := &hits[i].Limits[j]
			checks = append(checks, limiter.Check{
				Kind: policy.Kind, Policy: policy.Name, Rule: rule.Name,
				Limit: limit, Identity: hits[i].Identity, Cost: hits[i].Cost,
				Shadow: hits[i].Shadow, Drawn: hits[i].Drawn, Leased: rule.Leased, PodScoped: rule.PodScoped, Correctable: rule.Cost.IsCorrected(),
				Settled:        rules.lowered.holds(limit.Key, now),
				OnStoreFailure: rule.OnStoreFailure, LoosenessMilli: rule.LoosenessMilli,
				LivePods: rules.livePods(policy.Kind, policy.Name),
			})
		}
	}
	return checks
}

// undecided is the decision where the decider gave none: a rule that says Deny
// refuses unless it is a shadow, any other admits.
func undecided(checks []limiter.Check) limiter.Decision {
	decision := limiter.Decision{Allowed: true, Source: limiter.StoreAllowed}
	for i := range checks {
		check := &checks[i]
		state := limiter.LimitState{
			Kind: check.Kind, Policy: check.Policy, Rule: check.Rule, Limit: check.Limit.Name,
			Identity: check.Identity, Allowed: true, Shadow: check.Shadow, Source: limiter.StoreAllowed,
		}
		if check.OnStoreFailure == ruleset.FailDeny && !check.Shadow {
			state.Allowed, state.Source = false, limiter.StoreDenied
			decision.Allowed, decision.Source = false, limiter.StoreDenied
		}
		decision.Limits = append(decision.Limits, state)
	}
	return decision
}

// responseOf finds how the answer to a request is to tell about a policy's limits.
func responseOf(hits []match.Hit) func(kind, policy string) *ruleset.Response {
	return func(kind, policy string) *ruleset.Response {
		for i := range hits {
			if hits[i].Policy.Kind == kind && hits[i].Policy.Name == policy {
				return &hits[i].Policy.Response
			}
		}
		return nil
	}
}

// countDecision counts each rule once: an admitted request under every rule that
// it met, a refused one under the rules that refused it or would have.
func (m *Metrics) countDecision(decision *limiter.Decision) {
	for i := range decision.Limits {
		state := &decision.Limits[i]
		if state.Allowed && !decision.Allowed {
			continue
		}
		if !isFirstOfRule(decision.Limits[:i], state) {
			continue
		}
		m.countOutcome(state.Kind, state.Policy, state.Rule, outcomeOf(state))
	}
	m.countNearLimit(decision)
}

// countNearLimit counts each rule once of which an admitted request leaves less than
// a tenth. Shares of a limit, which a process counts by itself, say nothing of that.
func (m *Metrics) countNearLimit(decision *limiter.Decision) {
	if !decision.Allowed {
		return
	}
	near := func(state *limiter.LimitState) bool {
		return !state.Shadow && state.Source == limiter.Store && state.Remaining < (state.Burst+9)/10
	}
	for i := range decision.Limits {
		state := &decision.Limits[i]
		if near(state) && !slices.ContainsFunc(decision.Limits[:i], func(before limiter.LimitState) bool {
			return near(&before) && before.Rule == state.Rule && before.Policy == state.Policy && before.Kind == state.Kind
		}) {
			m.nearLimit.WithLabelValues(ruleset.PolicyLabel(state.Kind, state.Policy), state.Rule).Inc()
		}
	}
}

func (m *Metrics) countOutcome(kind, policy, rule, outcome string) {
	m.decisions.WithLabelValues(ruleset.PolicyLabel(kind, policy), rule, outcome).Inc()
}

// isFirstOfRule says that no limit before is of the same rule. Of a rule's limits
// those that refuse come first.
func isFirstOfRule(before []limiter.LimitState, state *limiter.LimitState) bool {
	for i := range before {
		other := &before[i]
		if other.Rule == state.Rule && other.Policy == state.Policy && other.Kind == state.Kind {
			return false
		}
	}
	return true
}

func outcomeOf(state *limiter.LimitState) string {
	switch {
	case state.Shadow && !state.Allowed:
		return outcomeShadowDenied
	case state.Source == limiter.StoreAllowed:
		return outcomeStoreAllowed
	case state.Source == limiter.StoreDenied:
		return outcomeStoreDenied
	case state.Source == limiter.Local && state.Allowed:
		return outcomeLocalAllowed
	case state.Source == limiter.Local:
		return outcomeLocalDenied
	case state.Allowed:
		return outcomeAllowed
	default:
		return outcomeDenied
	}
}

// countShadowDenied counts shadow rules that would refuse a request as it is.
func (m *Metrics) countShadowDenied(denied []match.Denied) {
	for i := range denied {
		m.countOutcome(denied[i].Policy.Kind, denied[i].Policy.Name, denied[i].Rule.Name, outcomeShadowDenied)
	}
}

// countExempt counts an exempt request under every rule of its policies, also under
// those that it would not have met: the first that it meets ends the comparison.
func (m *Metrics) countExempt(policies []*ruleset.Policy) {
	for _, policy := range policies {
		for i := range policy.Rules {
			m.countOutcome(policy.Kind, policy.Name, policy.Rules[i].Name, outcomeExempt)
		}
	}
}
