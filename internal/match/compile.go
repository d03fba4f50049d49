// Copyright The Penstock Authors.
// SPDX-License-Identifier: Apache-2.0

package match

import (
	"fmt"
	"iter"
	"slices"

	"github.com/penstock-dev/penstock/internal/ruleset"
)

// Matcher holds the rules of one pod, ready to be asked. It never changes, so
// any number of requests may ask at once.
type Matcher struct {
	policies   []policyMatcher
	identifier *identifier
}

// policyMatcher is one policy that selects the pod.
type policyMatcher struct {
	policy *ruleset.Policy
	// ports narrows the policy to these ports of the app; none means all.
	ports []int32
	rules []ruleMatcher
	// looksAtPaths is true if any rule compares the path.
	looksAtPaths bool
	// refusesBadPaths is true if such a rule may refuse: it is no shadow.
	refusesBadPaths bool
}

// ruleMatcher is one rule with what can be known before a request comes.
type ruleMatcher struct {
	rule         *ruleset.Rule
	alternatives []alternative
	// whole is the identity of a rule without key.
	whole string
	// ambiguous is the identity of all whose key has two values at once.
	ambiguous string
}

// Compile readies the policies that select a pod with these labels. The matcher
// refers to the rule set, which must not change afterwards.
func Compile(rs *ruleset.RuleSet, podLabels map[string]string) (*Matcher, error) {
	m := &Matcher{identifier: newIdentifier(rs.IdentityKey)}
	for i := range rs.Policies {
		policy := &rs.Policies[i]
		ports, selected := selectedPorts(policy.Selectors, podLabels)
		if !selected {
			continue
		}
		if len(rs.IdentityKey) == 0 {
			return nil, fmt.Errorf("compile rule set of namespace %q: it has policies and no identity key; the operator must publish it again", rs.Namespace)
		}
		compiled, err := m.compilePolicy(rs.Namespace, policy)
		if err != nil {
			return nil, fmt.Errorf("compile rule set of namespace %q: %s %q: %w", rs.Namespace, policy.Kind, policy.Name, err)
		}
		compiled.ports = ports
		m.policies = append(m.policies, compiled)
	}
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
				for k := range rule.Limits {
					if !yield(rule, &rule.Limits[k]) {
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

func (m *Matcher) compilePolicy(namespace string, policy *ruleset.Policy) (policyMatcher, error) {
	compiled := policyMatcher{policy: policy}
	for i := range policy.Rules {
		rule := &policy.Rules[i]
		ready := ruleMatcher{
			rule:      rule,
			whole:     m.identifier.ofRule(identityOfRule, namespace, policy, rule),
			ambiguous: m.identifier.ofRule(identityOfAmbiguous, namespace, policy, rule),
		}
		for _, entry := range rule.Matches {
			readied, err := compileAlternative(entry)
			if err != nil {
				return compiled, fmt.Errorf("rule %q: %w", rule.Name, err)
			}
			compiled.looksAtPaths = compiled.looksAtPaths || readied.path != ""
			compiled.refusesBadPaths = compiled.refusesBadPaths || readied.path != "" && !rule.Shadow
			ready.alternatives = append(ready.alternatives, readied)
		}
		if err := checkKey(rule.Key); err != nil {
			return compiled, fmt.Errorf("rule %q: %w", rule.Name, err)
		}
		if err := checkCost(rule.Cost); err != nil {
			return compiled, fmt.Errorf("rule %q: %w", rule.Name, err)
		}
		compiled.rules = append(compiled.rules, ready)
	}
	return compiled, nil
}

// covers reports whether the policy is for this port of the app.
func (p *policyMatcher) covers(port int32) bool {
	return len(p.ports) == 0 || slices.Contains(p.ports, port)
}
