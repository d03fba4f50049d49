// Copyright The Penstock Authors.
// SPDX-License-Identifier: Apache-2.0

package match

import (
	"slices"

	"github.com/penstock-dev/penstock/internal/ruleset"
)

// podPolicy is a policy as it is for some ports of a pod.
type podPolicy struct {
	policy *ruleset.Policy
	// ports narrows it to these ports of the app; none means all.
	ports []int32
	// except are ports of the app that it is not for.
	except []int32
}

// covers reports whether the policy is for this port of the app.
func (p *podPolicy) covers(port int32) bool {
	return (len(p.ports) == 0 || slices.Contains(p.ports, port)) && !slices.Contains(p.except, port)
}

// forPod is what a policy is for a pod with these labels; none if it does not select
// it. Where each target counts apart, there is one for each target that the pod is of,
// and a request is of the first whose port it came in for.
func forPod(policy *ruleset.Policy, podLabels map[string]string) []podPolicy {
	if !countsTargetsApart(policy) {
		ports, selected := selectedPorts(policy.Selectors, podLabels)
		if !selected {
			return nil
		}
		return []podPolicy{{policy: policy, ports: ports}}
	}
	var found []podPolicy
	var taken []int32
	for _, selector := range policy.Selectors {
		if !selector.Selects(podLabels) {
			continue
		}
		next := podPolicy{policy: ofTarget(policy, selector.Target), except: slices.Clone(taken)}
		if selector.Port == 0 {
			return append(found, next)
		}
		next.ports = []int32{selector.Port}
		found, taken = append(found, next), append(taken, selector.Port)
	}
	return found
}

func countsTargetsApart(policy *ruleset.Policy) bool {
	return slices.ContainsFunc(policy.Rules, func(rule ruleset.Rule) bool {
		has := func(limit ruleset.Limit) bool { return len(limit.TargetKeys) > 0 }
		return slices.ContainsFunc(rule.Limits, has) || slices.ContainsFunc(rule.Tiers, func(tier ruleset.Tier) bool {
			return slices.ContainsFunc(tier.Limits, has)
		})
	})
}

// ofTarget is the policy with the keys of a target's counts. Without a target, as where
// there are no pods, all that meets a rule is one count.
func ofTarget(policy *ruleset.Policy, target string) *ruleset.Policy {
	own := *policy
	own.Rules = slices.Clone(policy.Rules)
	for i := range own.Rules {
		rule := &own.Rules[i]
		rule.Limits = limitsOfTarget(rule.Limits, target)
		rule.Tiers = slices.Clone(rule.Tiers)
		for j := range rule.Tiers {
			rule.Tiers[j].Limits = limitsOfTarget(rule.Tiers[j].Limits, target)
		}
	}
	return &own
}

func limitsOfTarget(limits []ruleset.Limit, target string) []ruleset.Limit {
	own := slices.Clone(limits)
	for i := range own {
		if key, found := own[i].TargetKeys[target]; found {
			own[i].Key = key
		}
	}
	return own
}
