// Copyright The Penstock Authors.
// SPDX-License-Identifier: Apache-2.0

package match

import (
	"fmt"
	"slices"

	"github.com/penstock-dev/penstock/internal/ruleset"
)

// Hit is a rule that a request meets.
type Hit struct {
	Policy *ruleset.Policy
	Rule   *ruleset.Rule
	// Tier is the name of the tier whose limits count; empty for the rule's own.
	Tier string
	// Limits are those that count; none is unlimited.
	Limits []ruleset.Limit
	// Identity is who the rule counts the request for: 22 base64url characters.
	// Rules with equal keys share it, so that their counters share a slot.
	Identity string
	// Cost is how much the request counts as, before it is answered.
	Cost int64
	// Shadow says that the rule refuses nothing: it is a shadow, or the draw for its
	// enforcePercent made it one for this request.
	Shadow bool
}

// Denied says that a rule refuses the request because a part of its key is
// missing and the part's onMissing is Deny.
type Denied struct {
	Policy *ruleset.Policy
	Rule   *ruleset.Rule
	Part   *ruleset.KeyPart
}

// Result is what the rules say about a request before anything is counted.
type Result struct {
	// Hits are the rules to count by, in the rule set's order.
	Hits []Hit
	// Denied is the first rule that refuses the request as it is, or nil.
	Denied *Denied
	// ShadowDenied are the shadow rules that would.
	ShadowDenied []Denied
	// Exempt are the policies that would apply but for their exemptions.
	Exempt []*ruleset.Policy
}

// Match finds the rules that a request meets. It gives an error that wraps
// ErrBadPath if the path has no reading, or too many, and a rule looks at paths that
// may refuse. Shadow rules that look at paths do not meet such a request.
func (m *Matcher) Match(view View) (Result, error) {
	request := request{view: view}
	var result Result
	port := view.LocalPort()
	for i := range m.policies {
		policy := &m.policies[i]
		if !policy.covers(port) {
			continue
		}
		if policy.policy.Response.EchoOrigin && isPreflight(view) {
			result.Exempt = append(result.Exempt, policy.policy)
			continue
		}
		paths, err := policy.pathsOf(&request)
		if err != nil {
			return Result{}, fmt.Errorf("read path for %s %q: %w", policy.policy.Kind, policy.policy.Name, err)
		}
		if policy.exempts(&request, &paths) {
			result.Exempt = append(result.Exempt, policy.policy)
			continue
		}
		m.countRules(&result, &request, policy, &paths)
	}
	return result, result.checkSize()
}

// countRules adds the rules of a policy that the request meets to the result: all,
// or with FirstMatch the first. A path in another spelling than the canonical one may
// be read as one that the first rule is not for, and so meets them all.
func (m *Matcher) countRules(result *Result, request *request, policy *policyMatcher, paths *pathsRead) {
	for i := range policy.rules {
		rule := &policy.rules[i]
		if !rule.meets(request, paths.all()) {
			continue
		}
		applies := m.count(result, request, policy.policy, rule, paths)
		if applies && policy.policy.FirstMatch && paths.canonical {
			return
		}
	}
}

// checkSize refuses a spelling with so many readings that the request meets more
// limits than the compiler lets any path in its plain spelling meet. If these are
// too many only with those of shadow rules, the last shadow rules do not count it.
func (r *Result) checkSize() error {
	limits, all := 0, 0
	for i := range r.Hits {
		all += len(r.Hits[i].Limits)
		if !r.Hits[i].Shadow {
			limits += len(r.Hits[i].Limits)
		}
	}
	if limits > ruleset.MaxLimitsPerRequest {
		return fmt.Errorf("%w: it can be read in ways that meet %d limits, at most %d are counted", ErrBadPath, limits, ruleset.MaxLimitsPerRequest)
	}
	for i := len(r.Hits) - 1; i >= 0 && all > ruleset.MaxLimitsPerRequest; i-- {
		if r.Hits[i].Shadow {
			all -= len(r.Hits[i].Limits)
			r.Hits = slices.Delete(r.Hits, i, i+1)
		}
	}
	return nil
}

// count adds a rule that the request meets to the result, and reports whether the rule
// applies: it does not where a part of its key is missing and says Skip.
func (m *Matcher) count(result *Result, request *request, policy *ruleset.Policy, rule *ruleMatcher, paths *pathsRead) bool {
	tier, limits := rule.limitsFor(request, paths)
	identity, missing := m.identify(request, policy, rule)
	shadow := isShadow(rule.rule)
	switch {
	case missing == nil:
		result.Hits = append(result.Hits, Hit{
			Policy: policy, Rule: rule.rule, Tier: tier, Limits: limits,
			Identity: identity, Cost: costOf(rule.rule.Cost, request.view), Shadow: shadow,
		})
	case missing.OnMissing == ruleset.MissingSkip:
		return false
	case shadow:
		result.ShadowDenied = append(result.ShadowDenied, Denied{Policy: policy, Rule: rule.rule, Part: missing})
	case result.Denied == nil:
		result.Denied = &Denied{Policy: policy, Rule: rule.rule, Part: missing}
	}
	return true
}
