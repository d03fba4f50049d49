// Copyright The Penstock Authors.
// SPDX-License-Identifier: Apache-2.0

package match

import (
	"fmt"
	"slices"
	"strings"

	"github.com/penstock-dev/penstock/internal/ruleset"
)

// Hit is a rule that a request meets.
type Hit struct {
	Policy *ruleset.Policy
	Rule   *ruleset.Rule
	// Identity is who the rule counts the request for: 22 base64url characters.
	// Rules with equal keys share it, so that their counters share a slot.
	Identity string
	// Cost is how much the request counts as, before it is answered.
	Cost int64
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
		var paths []string
		if policy.looksAtPaths {
			read, err := request.readings(policy.policy.PathMatching)
			if err != nil && policy.refusesBadPaths {
				return Result{}, fmt.Errorf("read path for %s %q: %w", policy.policy.Kind, policy.policy.Name, err)
			}
			if err == nil {
				paths = read.all()
			}
		}
		for j := range policy.rules {
			rule := &policy.rules[j]
			if rule.meets(view.Method(), paths) {
				m.count(&result, &request, policy.policy, rule)
			}
		}
	}
	return result, result.checkSize()
}

// checkSize refuses a spelling with so many readings that the request meets more
// limits than the compiler lets any path in its plain spelling meet. If these are
// too many only with those of shadow rules, the last shadow rules do not count it.
func (r *Result) checkSize() error {
	limits, all := 0, 0
	for i := range r.Hits {
		all += len(r.Hits[i].Rule.Limits)
		if !r.Hits[i].Rule.Shadow {
			limits += len(r.Hits[i].Rule.Limits)
		}
	}
	if limits > ruleset.MaxLimitsPerRequest {
		return fmt.Errorf("%w: it can be read in ways that meet %d limits, at most %d are counted", ErrBadPath, limits, ruleset.MaxLimitsPerRequest)
	}
	for i := len(r.Hits) - 1; i >= 0 && all > ruleset.MaxLimitsPerRequest; i-- {
		if r.Hits[i].Rule.Shadow {
			all -= len(r.Hits[i].Rule.Limits)
			r.Hits = slices.Delete(r.Hits, i, i+1)
		}
	}
	return nil
}

// count adds a rule that the request meets to the result.
func (m *Matcher) count(result *Result, request *request, policy *ruleset.Policy, rule *ruleMatcher) {
	identity, missing := m.identify(request, policy, rule)
	switch {
	case missing == nil:
		result.Hits = append(result.Hits, Hit{Policy: policy, Rule: rule.rule, Identity: identity, Cost: costOf(rule.rule.Cost, request.view)})
	case missing.OnMissing == ruleset.MissingDeny && rule.rule.Shadow:
		result.ShadowDenied = append(result.ShadowDenied, Denied{Policy: policy, Rule: rule.rule, Part: missing})
	case missing.OnMissing == ruleset.MissingDeny && result.Denied == nil:
		result.Denied = &Denied{Policy: policy, Rule: rule.rule, Part: missing}
	}
}

// identify returns the identity of a request under a rule, or the part that is
// missing and makes the rule skip or refuse the request.
func (m *Matcher) identify(request *request, policy *ruleset.Policy, rule *ruleMatcher) (identity string, missing *ruleset.KeyPart) {
	if len(rule.rule.Key) == 0 {
		return rule.whole, nil
	}
	var room [256]byte
	content := append(room[:0], identityOfParts)
	ambiguous := false
	client := func() []byte { return request.client(policy.ClientIP.IPv6PrefixLength) }
	for i := range rule.rule.Key {
		part := &rule.rule.Key[i]
		var outcome partOutcome
		content, outcome = appendPart(content, part, request.view, client)
		switch {
		case outcome == partAmbiguous:
			ambiguous = true
		case outcome == partMissing && (part.OnMissing == ruleset.MissingSkip || part.OnMissing == ruleset.MissingDeny):
			return "", part
		case outcome == partMissing:
			content = appendField(content, kindMissing)
			content = appendField(content, "")
			content = appendField(content, "")
		}
	}
	if ambiguous {
		return rule.ambiguous, nil
	}
	return m.identifier.hash(content), nil
}

// meets reports whether any alternative of the rule holds for any reading.
func (r *ruleMatcher) meets(method string, paths []string) bool {
	if len(r.alternatives) == 0 {
		return true
	}
	for i := range r.alternatives {
		if r.alternatives[i].holds(method, paths) {
			return true
		}
	}
	return false
}

func (a *alternative) holds(method string, paths []string) bool {
	if len(a.methods) > 0 && !slices.Contains(a.methods, method) {
		return false
	}
	if a.path == "" {
		return true
	}
	for _, path := range paths {
		if a.kind == ruleset.PathExact && path == a.path || a.kind == ruleset.PathPrefix && hasPathPrefix(path, a.path) {
			return true
		}
	}
	return false
}

// hasPathPrefix compares whole segments. The prefix "/" is every request's,
// also of those whose target is not a path.
func hasPathPrefix(path, prefix string) bool {
	if prefix == "/" {
		return true
	}
	return strings.HasPrefix(path, prefix) && (len(path) == len(prefix) || path[len(prefix)] == '/')
}

// request remembers what several rules ask of one request.
type request struct {
	view         View
	loose        readings
	strict       readings
	address      []byte
	addressBits  int
	addressKnown bool
}

func (r *request) readings(matching ruleset.PathMatching) (*readings, error) {
	known := &r.loose
	if matching == ruleset.PathStrict {
		known = &r.strict
	}
	if known.count == 0 {
		read, err := readTarget(r.view.Target(), matching)
		if err != nil {
			return nil, err
		}
		*known = read
	}
	return known, nil
}

// client returns the text of the client's network, empty if it has no address.
func (r *request) client(ipv6PrefixLength int) []byte {
	if r.addressKnown && r.addressBits == ipv6PrefixLength {
		return r.address
	}
	r.address, r.addressBits, r.addressKnown = r.address[:0], ipv6PrefixLength, true
	if network := ClientNetwork(r.view.Peer(), ipv6PrefixLength); network.IsValid() {
		r.address = appendNetwork(r.address, network)
	}
	return r.address
}
