// Copyright The Penstock Authors.
// SPDX-License-Identifier: Apache-2.0

package proxy

import (
	"github.com/prometheus/client_golang/prometheus"

	"github.com/penstock-dev/penstock/internal/match"
	"github.com/penstock-dev/penstock/internal/ruleset"
)

func newUnverifiedTokens() *prometheus.CounterVec {
	return prometheus.NewCounterVec(prometheus.CounterOpts{
		Name: "penstock_unverified_tokens_total", Help: "Requests with a token that no provider of a policy verified though the policy asked for its claims, by the provider that came nearest, and why it did not.",
	}, []string{"policy", "provider", "reason"})
}

// countUnverified counts the tokens of a request that were not verified.
func (m *Metrics) countUnverified(tokens []match.UnverifiedToken) {
	for i := range tokens {
		policy := tokens[i].Policy
		m.unverified.WithLabelValues(ruleset.PolicyLabel(policy.Kind, policy.Name), tokens[i].Provider, string(tokens[i].Reason)).Inc()
	}
}

// providerName names a provider of a policy as metrics do.
type providerName struct{ policy, provider string }

// retainProviders removes the series of providers that are no more.
func (m *Metrics) retainProviders(matcher *match.Matcher) error {
	known := make(map[providerName]bool)
	for policy := range matcher.Policies() {
		for i := range policy.JWT {
			known[providerName{ruleset.PolicyLabel(policy.Kind, policy.Name), policy.JWT[i].Name}] = true
		}
	}
	return eachSeries(m.unverified, func(labels map[string]string, _ float64) {
		if !known[providerName{labels["policy"], labels["provider"]}] {
			m.unverified.Delete(labels)
		}
	})
}

// unverifiedFields are what the log tells of a token that was not verified, of a refusal
// for what it was to give; none where there is no such token.
func unverifiedFields(denied *match.Denied) []any {
	if denied.Unverified == nil {
		return nil
	}
	return []any{"lacks", lackedToken(denied.Claim), "provider", denied.Unverified.Provider, "reason", string(denied.Unverified.Reason)}
}
