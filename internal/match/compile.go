// Copyright The Penstock Authors.
// SPDX-License-Identifier: Apache-2.0

package match

import (
	"fmt"
	"iter"

	"github.com/penstock-dev/penstock/internal/ruleset"
)

// Matcher holds the rules of one pod, ready to be asked. It never changes, so
// any number of requests may ask at once.
type Matcher struct {
	policies   []policyMatcher
	index      *index
	identifier *identifier
	options    Options
	// issuers are the issuers of tokens, by all that is said of them.
	issuers map[string]*provider
	// byPeer are those that ask for the peer's address.
	byPeer peerAskers
}

// policyMatcher is one policy that selects the pod.
type policyMatcher struct {
	podPolicy
	rules []ruleMatcher
	// providers verify tokens.
	providers providers
	// client says how the client's address is read.
	client *clientSource
	// exempt lifts the rules for some requests; nil for none.
	exempt *exemptions
	// looksAtPaths is true if any rule compares or counts by the path, or it may exempt.
	looksAtPaths bool
	// refusesBadPaths is true if such a rule may refuse: it is no shadow.
	refusesBadPaths bool
}

// ruleMatcher is one rule with what can be known before a request comes.
type ruleMatcher struct {
	rule         *ruleset.Rule
	alternatives []alternative
	expressions  *ruleExpressions
	// whole is the identity of a rule without key.
	whole string
	// ambiguous is the identity of all whose key has two values at once.
	ambiguous string
	// client is that of the policy.
	client *clientSource
	// keyedByPath is true if the path is part of the key.
	keyedByPath bool
	// providers are the policy's.
	providers providers
}

// Compile readies the policies that select a pod with these labels. The matcher
// refers to the rule set, which must not change afterwards.
func Compile(rs *ruleset.RuleSet, podLabels map[string]string, options Options) (*Matcher, error) {
	m := &Matcher{
		identifier: newIdentifier(rs.IdentityKey),
		options:    options.orDefault(), issuers: make(map[string]*provider),
	}
	for i := range rs.Policies {
		for _, policy := range forPod(&rs.Policies[i], podLabels) {
			if len(rs.IdentityKey) == 0 {
				return nil, fmt.Errorf("compile rule set of namespace %q: it has policies and no identity key; the operator must publish it again", rs.Namespace)
			}
			compiled, err := m.compilePolicy(rs.Namespace, policy)
			if err != nil {
				return nil, fmt.Errorf("compile rule set of namespace %q: %s %q: %w", rs.Namespace, policy.policy.Kind, policy.policy.Name, err)
			}
			m.policies = append(m.policies, compiled)
			m.byPeer.add(&compiled)
		}
	}
	m.index = newIndex(m.policies)
	// What was before that need not be kept.
	m.options.Before = nil
	return m, nil
}

// Policies are the policies that are for the pod.
func (m *Matcher) Policies() iter.Seq[*ruleset.Policy] {
	return func(yield func(*ruleset.Policy) bool) {
		for i := range m.policies {
			if !yield(m.policies[i].policy) {
				return
			}
		}
	}
}

// Limits are all limits of the rules that are for the pod.
func (m *Matcher) Limits() iter.Seq2[*ruleset.Rule, *ruleset.Limit] {
	return func(yield func(*ruleset.Rule, *ruleset.Limit) bool) {
		for i := range m.policies {
			for j := range m.policies[i].rules {
				rule := m.policies[i].rules[j].rule
				for _, limit := range rule.AllLimits() {
					if !yield(rule, limit) {
						return
					}
				}
			}
		}
	}
}

// selectedPorts joins the selectors that select the pod. One without a port
// covers all ports, which is told by an empty list.
func selectedPorts(selectors []ruleset.Selector, podLabels map[string]string) (ports []int32, selected bool) {
	all := false
	for _, selector := range selectors {
		if !selector.Selects(podLabels) {
			continue
		}
		selected = true
		all = all || selector.Port == 0
		ports = append(ports, selector.Port)
	}
	if all {
		return nil, true
	}
	return ports, selected
}

func (m *Matcher) compilePolicy(namespace string, of podPolicy) (policyMatcher, error) {
	policy := of.policy
	client, err := m.clientSourceFor(&policy.ClientIP)
	if err != nil {
		return policyMatcher{}, err
	}
	providers, err := m.compileProviders(policy)
	if err != nil {
		return policyMatcher{}, err
	}
	exempt, err := compileExempt(policy.Exempt, policy.PathMatching)
	if err != nil {
		return policyMatcher{}, err
	}
	if exempt != nil {
		exempt.asker = asker{policy: policy, client: client, providers: providers}
	}
	compiled := policyMatcher{podPolicy: of, client: client, providers: providers, exempt: exempt, looksAtPaths: exempt.looksAtPaths()}
	for i := range policy.Rules {
		rule := &policy.Rules[i]
		ready, looksAtPaths, err := m.compileRule(namespace, &compiled, rule)
		if err != nil {
			return compiled, fmt.Errorf("rule %q: %w", rule.Name, err)
		}
		compiled.looksAtPaths = compiled.looksAtPaths || looksAtPaths
		compiled.refusesBadPaths = compiled.refusesBadPaths || looksAtPaths && !rule.Shadow
		compiled.rules = append(compiled.rules, ready)
	}
	return compiled, nil
}

func (m *Matcher) compileRule(namespace string, of *policyMatcher, rule *ruleset.Rule) (ready ruleMatcher, looksAtPaths bool, err error) {
	policy := of.policy
	ready = ruleMatcher{
		rule:      rule,
		whole:     m.identifier.ofRule(identityOfRule, namespace, policy, rule),
		ambiguous: m.identifier.ofRule(identityOfAmbiguous, namespace, policy, rule),
		client:    of.client, providers: of.providers, keyedByPath: isKeyedByPath(rule.Key),
	}
	if ready.expressions, err = compileExpressions(asker{policy: policy, rule: rule, client: of.client, providers: of.providers}); err != nil {
		return ready, false, err
	}
	looksAtPaths = ready.keyedByPath || ready.expressions.looksAtPaths
	for _, entry := range rule.Matches {
		readied, err := compileAlternative(entry, policy.PathMatching)
		if err != nil {
			return ready, false, err
		}
		looksAtPaths = looksAtPaths || readied.path != ""
		ready.alternatives = append(ready.alternatives, readied)
	}
	if err := checkKey(rule.Key); err != nil {
		return ready, false, err
	}
	return ready, looksAtPaths, checkCost(rule.Cost)
}
