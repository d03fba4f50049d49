// Copyright The Penstock Authors.
// SPDX-License-Identifier: Apache-2.0

package compile

import (
	"strings"
	"testing"

	"github.com/penstock-dev/penstock/api/v1alpha1"
)

// TestAFaultIsToldOnce has values that are not known, beside fields whose meaning depends
// on what was meant: nothing can be said of those.
func TestAFaultIsToldOnce(t *testing.T) {
	t.Parallel()
	rule := func(change func(*v1alpha1.Rule)) func(*v1alpha1.RateLimitPolicy) {
		return func(p *v1alpha1.RateLimitPolicy) { change(&p.Spec.Rules[0]) }
	}
	match := func(m v1alpha1.Match) func(*v1alpha1.RateLimitPolicy) {
		return rule(func(r *v1alpha1.Rule) { r.Matches = []v1alpha1.Match{m} })
	}
	for field, change := range map[string]func(*v1alpha1.RateLimitPolicy){
		"spec.clientIP.source": func(p *v1alpha1.RateLimitPolicy) {
			p.Spec.ClientIP = &v1alpha1.ClientIP{Source: "XFF", HeaderName: "X-Real-IP", TrustedHops: new(int32(1)), TrustedCIDRs: []string{"10.0.0.0/8"}}
		},
		"spec.targetRefs[0].kind": func(p *v1alpha1.RateLimitPolicy) {
			p.Spec.Selector, p.Spec.TargetRefs = nil, []v1alpha1.TargetReference{{Kind: "Job", Name: "web", Group: "batch", SectionName: "http"}}
		},
		"spec.response.headers[1]":                 headers(v1alpha1.HeadersRateLimit, "Draft04"),
		"spec.rules[0].matches[0].path.type":       match(v1alpha1.Match{Path: &v1alpha1.PathMatch{Type: "Regex", Value: "/a[0-9]+"}}),
		"spec.rules[0].matches[0].headers[0].type": match(v1alpha1.Match{Headers: []v1alpha1.HeaderMatch{{Name: "X-Env", Type: "Regex", Value: "a"}}}),
		"spec.rules[0].limits[0].algorithm": rule(func(r *v1alpha1.Rule) {
			r.Limits[0] = v1alpha1.Limit{Name: "places", Requests: 2, Algorithm: "concurrency", Burst: new(int64(3))}
		}),
		"spec.rules[0].key[0].from[0].jwtClaim.verification": rule(func(r *v1alpha1.Rule) {
			claim := &v1alpha1.JWTClaimKey{Name: "sub", Verification: "none"}
			r.Key = []v1alpha1.KeyPart{{Name: "user", From: []v1alpha1.KeySource{{JWTClaim: claim}}}}
		}),
	} {
		result, _ := compileOne(t, nil, nil, newPolicy("web", change))
		if len(result.Problems) != 1 || result.Problems[0].Field != field || !strings.Contains(result.Problems[0].Message, "is not known: write one of") {
			t.Errorf("problems %+v, want one alone, of %s", result.Problems, field)
		}
	}
}

func TestAFaultOfAStoreIsToldOnce(t *testing.T) {
	t.Parallel()
	problems := Store(newStore(func(s *v1alpha1.RateLimitStoreSpec) {
		s.Mode, s.Sentinel = "sentinel", &v1alpha1.Sentinel{MasterName: "main"}
	}))
	if len(problems) != 1 || problems[0].Field != "spec.mode" {
		t.Errorf("problems %+v, want one alone, of spec.mode", problems)
	}
}

// TestPathParamsOfOtherFrameworksAreRecognised has the template name the parameter, but
// not as it is written here.
func TestPathParamsOfOtherFrameworksAreRecognised(t *testing.T) {
	t.Parallel()
	for _, segment := range []string{":id", "{id:int}"} {
		result, _ := compileOne(t, nil, nil, newPolicy("web", func(p *v1alpha1.RateLimitPolicy) {
			p.Spec.Rules[0].Matches = []v1alpha1.Match{{Path: &v1alpha1.PathMatch{Type: v1alpha1.PathMatchTemplate, Value: "/users/" + segment}}}
			p.Spec.Rules[0].Key = []v1alpha1.KeyPart{{Name: "user", From: []v1alpha1.KeySource{{PathParam: &v1alpha1.NamedKey{Name: "id"}}}}}
		}))
		want := "whose template has " + segment + ": write {id} there"
		if result.Reason != v1alpha1.ReasonInvalid || !strings.Contains(result.Problems[0].Message, want) {
			t.Errorf("problems %+v, want the first with %q", result.Problems, want)
		}
	}
}
