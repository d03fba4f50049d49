// Copyright The Penstock Authors.
// SPDX-License-Identifier: Apache-2.0

package proxy

import (
	"fmt"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/penstock-dev/penstock/internal/match"
	"github.com/penstock-dev/penstock/internal/ruleset"
)

// ruleNames are the rules of a pod, and its policies with an empty name of a rule: what
// is counted of a policy as a whole.
func ruleNames(matcher *match.Matcher) map[RuleName]bool {
	names := make(map[RuleName]bool)
	for policy := range matcher.Policies() {
		names[RuleName{Policy: ruleset.PolicyLabel(policy.Kind, policy.Name)}] = true
		for i := range policy.Rules {
			names[NameOf(policy, &policy.Rules[i])] = true
		}
	}
	return names
}

// outcomeCounts are how often each outcome was counted under each rule.
func (m *Metrics) outcomeCounts() (map[RuleName]map[string]int64, error) {
	counts := make(map[RuleName]map[string]int64)
	err := eachSeries(m.decisions, func(labels map[string]string, value float64) {
		name := RuleName{Policy: labels["policy"], Rule: labels["rule"]}
		if counts[name] == nil {
			counts[name] = make(map[string]int64)
		}
		counts[name][labels["outcome"]] = int64(value)
	})
	return counts, err
}

// retain removes the series of rules that are no more, or they would add up over the
// life of a pod. Answers under way may bring some back, until rules change again.
func (m *Metrics) retain(rules map[RuleName]bool) error {
	for _, vector := range []*prometheus.CounterVec{m.decisions, m.nearLimit, m.expressions} {
		err := eachSeries(vector, func(labels map[string]string, _ float64) {
			if !rules[RuleName{Policy: labels["policy"], Rule: labels["rule"]}] {
				vector.Delete(labels)
			}
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// eachSeries visits all series of a vector as they are now.
func eachSeries(vector *prometheus.CounterVec, visit func(labels map[string]string, value float64)) error {
	registry := prometheus.NewRegistry()
	if err := registry.Register(vector); err != nil {
		return fmt.Errorf("read metrics: %w", err)
	}
	families, err := registry.Gather()
	if err != nil {
		return fmt.Errorf("read metrics: %w", err)
	}
	for _, family := range families {
		for _, metric := range family.GetMetric() {
			labels := make(map[string]string)
			for _, pair := range metric.GetLabel() {
				labels[pair.GetName()] = pair.GetValue()
			}
			visit(labels, metric.GetCounter().GetValue())
		}
	}
	return nil
}
