// Copyright The Penstock Authors.
// SPDX-License-Identifier: Apache-2.0

package proxy

import (
	"sync"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/penstock-dev/penstock/internal/ruleset"
)

// otherIdentities is the label of all identities beyond the cap.
const otherIdentities = "other"

// RuleName names a rule as metrics do.
type RuleName struct {
	// Policy is a policy's name, with "cluster/" before that of a
	// ClusterRateLimitPolicy.
	Policy string
	Rule   string
}

// NameOf names a rule of a policy.
func NameOf(policy *ruleset.Policy, rule *ruleset.Rule) RuleName {
	return RuleName{Policy: ruleset.PolicyLabel(policy.Kind, policy.Name), Rule: rule.Name}
}

func (n RuleName) String() string { return n.Policy + "/" + n.Rule }

// keyLabels counts refusals by identity, for rules that were asked for. There are never
// more series than the cap, besides one for the others of each of these rules; those of
// a rule that is no more go with it.
type keyLabels struct {
	refusals *prometheus.CounterVec
	rules    map[RuleName]bool
	most     int

	mu     sync.Mutex
	series map[refusedBy]bool
}

// newKeyLabels adds its metric where there are such rules. It is the only one with a
// label for clients.
func newKeyLabels(registry *prometheus.Registry, rules []RuleName, most int) (*keyLabels, error) {
	k := &keyLabels{
		refusals: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "penstock_identity_refusals_total", Help: "Refused requests by the hash of their identity, for the rules of --key-labels.",
		}, []string{"policy", "rule", "identity"}),
		rules: make(map[RuleName]bool), most: most, series: make(map[refusedBy]bool),
	}
	for _, rule := range rules {
		k.rules[rule] = true
	}
	if len(rules) == 0 {
		return k, nil
	}
	return k, registry.Register(k.refusals)
}

func (k *keyLabels) count(by refusedBy) {
	if len(k.rules) == 0 || !k.rules[RuleName{Policy: by.policy, Rule: by.rule}] {
		return
	}
	by.limit = ""
	k.mu.Lock()
	defer k.mu.Unlock()
	if !k.series[by] {
		if len(k.series) >= k.most {
			by.identity = otherIdentities
		} else {
			k.series[by] = true
		}
	}
	k.refusals.WithLabelValues(by.policy, by.rule, by.identity).Inc()
}

// retain removes the series of rules that are no more.
func (k *keyLabels) retain(rules map[RuleName]bool) {
	k.mu.Lock()
	defer k.mu.Unlock()
	for by := range k.series {
		if !rules[RuleName{Policy: by.policy, Rule: by.rule}] {
			delete(k.series, by)
			k.refusals.DeleteLabelValues(by.policy, by.rule, by.identity)
		}
	}
	for rule := range k.rules {
		if !rules[rule] {
			k.refusals.DeleteLabelValues(rule.Policy, rule.Rule, otherIdentities)
		}
	}
}
