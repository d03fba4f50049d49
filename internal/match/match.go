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
	// enforcePercent made it one for this request, and then it is Drawn.
	Shadow, Drawn bool
}

// Denied says that a rule refuses the request because a part of its key is
// missing and the part's onMissing is Deny.
type Denied struct {
	Policy *ruleset.Policy
	Rule   *ruleset.Rule
	Part   *ruleset.KeyPart
	// Claim is the claim that the part is of where the request bears a token for it that
	// was not verified, and Unverified says why; else it is empty, and that nil.
	Claim      string
	Unverified *UnverifiedToken
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
	// ExpressionErrors has an entry for each expression that gave no value.
	ExpressionErrors []ExpressionError
	// UnverifiedTokens has an entry for each policy that asked for a claim of a token that
	// none of its providers verified.
	UnverifiedTokens []UnverifiedToken
}

// Match finds the rules that a request meets. It gives an error that wraps
// ErrBadPath if the path has no reading, or too many, and a rule looks at paths that
// may refuse. Shadow rules that look at paths do not meet such a request.
func (m *Matcher) Match(view View) (Result, error) {
	request := newRequest(view)
	defer request.release()
	var result Result
	err := m.readPaths(request)
	if err == nil {
		err = m.askAll(&result, request)
	}
	result.ExpressionErrors, result.UnverifiedTokens = request.failed, request.unverified()
	return result, err
}

func (m *Matcher) askAll(result *Result, request *request) error {
	port := request.view.LocalPort()
	turn := turn{}
	for _, number := range m.index.candidates(request) {
		entry := &m.index.entries[number]
		if entry.policy != turn.policy {
			turn = beginTurn(entry.policy, request, port)
		}
		if !turn.over {
			m.ask(result, request, &turn, entry.rule)
		}
	}
	if request.badPath != nil {
		return request.badPath
	}
	return result.checkSize()
}

// turn is that of a policy: its rules are asked one after the other.
type turn struct {
	policy *policyMatcher
	paths  pathsRead
	// begun is true once a rule was met, and the policy does not exempt the request.
	begun bool
	// over is true if no further rule of the policy is to be asked.
	over bool
}

func beginTurn(policy *policyMatcher, request *request, port int32) turn {
	return turn{policy: policy, paths: policy.pathsOf(request), over: !policy.covers(port)}
}

// ask adds a rule to the result if the request meets it. With FirstMatch it is the last
// of its policy, unless the request can be read as one that the rule is not for: its
// path is in another spelling than the canonical one, or a value is in doubt.
func (m *Matcher) ask(result *Result, request *request, turn *turn, rule *ruleMatcher) {
	policy := turn.policy
	how, meets := rule.appliesTo(request, turn.paths.all())
	if !meets {
		return
	}
	if !turn.begun && policy.exempts(request, &turn.paths) {
		result.Exempt = append(result.Exempt, policy.policy)
		turn.over = true
		return
	}
	turn.begun = true
	applies := m.count(result, request, policy.policy, rule, &turn.paths, &how)
	turn.over = applies && policy.policy.FirstMatch && turn.paths.canonical && !how.inDoubt
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
func (m *Matcher) count(result *Result, request *request, policy *ruleset.Policy, rule *ruleMatcher, paths *pathsRead, how *met) bool {
	tier, limits := rule.limitsFor(request, paths, how)
	otherTier, otherLimits := rule.otherLimitsFor(request, paths, how, tier)
	if len(limits) == 0 && len(otherLimits) > 0 {
		tier, limits, otherLimits = otherTier, otherLimits, nil
	}
	identity, missing := m.identify(request, rule, how, len(limits) > 0)
	shadow, drawn := isShadow(rule.rule)
	switch {
	case missing == nil:
		result.Hits = append(result.Hits, Hit{
			Policy: policy, Rule: rule.rule, Tier: tier, Limits: limits,
			Identity: identity, Cost: rule.costFor(request, how), Shadow: shadow, Drawn: drawn,
		})
		if len(otherLimits) > 0 {
			other := result.Hits[len(result.Hits)-1]
			other.Tier, other.Limits = otherTier, otherLimits
			result.Hits = append(result.Hits, other)
		}
	case missing.OnMissing == ruleset.MissingSkip:
		return false
	case shadow:
		result.ShadowDenied = append(result.ShadowDenied, Denied{Policy: policy, Rule: rule.rule, Part: missing})
	case result.Denied == nil:
		result.Denied = &Denied{Policy: policy, Rule: rule.rule, Part: missing}
		result.Denied.Claim, result.Denied.Unverified = rule.providers.lacking(request, missing)
	}
	return true
}
