// Copyright The Penstock Authors.
// SPDX-License-Identifier: Apache-2.0

package compile

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/penstock-dev/penstock/api/v1alpha1"
	"github.com/penstock-dev/penstock/internal/ruleset"
)

func clientIP(clientIP v1alpha1.ClientIP) func(*v1alpha1.RateLimitPolicy) {
	return func(p *v1alpha1.RateLimitPolicy) { p.Spec.ClientIP = &clientIP }
}

func exempt(exempt v1alpha1.Exempt) func(*v1alpha1.RateLimitPolicy) {
	return func(p *v1alpha1.RateLimitPolicy) { p.Spec.Exempt = &exempt }
}

func keyOf(source v1alpha1.KeySource, templates ...string) func(*v1alpha1.RateLimitPolicy) {
	return func(p *v1alpha1.RateLimitPolicy) {
		rule := &p.Spec.Rules[0]
		rule.Key = []v1alpha1.KeyPart{{Name: "client", From: []v1alpha1.KeySource{source}}}
		for _, template := range templates {
			rule.Matches = append(rule.Matches, v1alpha1.Match{Path: &v1alpha1.PathMatch{Type: v1alpha1.PathMatchTemplate, Value: template}})
		}
	}
}

func TestIdentityFieldsAreNamedWithTheirMend(t *testing.T) {
	t.Parallel()
	trusted := []string{"10.0.0.0/8"}
	id := v1alpha1.KeySource{PathParam: &v1alpha1.NamedKey{Name: "id"}}
	tests := map[string]struct {
		change      func(*v1alpha1.RateLimitPolicy)
		wantField   string
		wantMessage string
	}{
		"header without name":       {clientIP(v1alpha1.ClientIP{Source: "Header", TrustedCIDRs: trusted}), "spec.clientIP.headerName", "CF-Connecting-IP"},
		"name without header":       {clientIP(v1alpha1.ClientIP{HeaderName: "A"}), "spec.clientIP.headerName", "remove headerName"},
		"header Forwarded":          {clientIP(v1alpha1.ClientIP{Source: "Header", HeaderName: "forwarded", TrustedCIDRs: trusted}), "spec.clientIP.headerName", "source: XForwardedFor"},
		"hops without header":       {clientIP(v1alpha1.ClientIP{TrustedHops: new(int32(1))}), "spec.clientIP.trustedHops", "set source to"},
		"ranges without header":     {clientIP(v1alpha1.ClientIP{TrustedCIDRs: trusted}), "spec.clientIP.trustedCIDRs", "set source to"},
		"nobody is trusted":         {clientIP(v1alpha1.ClientIP{Source: "XForwardedFor"}), "spec.clientIP.trustedCIDRs", "anyone could forge"},
		"no hop":                    {clientIP(v1alpha1.ClientIP{Source: "XForwardedFor", TrustedHops: new(int32(0)), TrustedCIDRs: trusted}), "spec.clientIP.trustedHops", "from 1 to 32"},
		"range that is an address":  {clientIP(v1alpha1.ClientIP{Source: "XForwardedFor", TrustedCIDRs: []string{"10.0.0.1"}}), "spec.clientIP.trustedCIDRs[0]", "write 10.0.0.1/32 for that one address"},
		"range of no address":       {clientIP(v1alpha1.ClientIP{Source: "XForwardedFor", TrustedCIDRs: []string{"lb"}}), "spec.clientIP.trustedCIDRs[0]", "10.0.0.0/8"},
		"exempt address":            {func(p *v1alpha1.RateLimitPolicy) { p.Spec.Exempt = &v1alpha1.Exempt{CIDRs: []string{"2001:db8::1"}} }, "spec.exempt.cidrs[0]", "write 2001:db8::1/128"},
		"range with bits behind it": {clientIP(v1alpha1.ClientIP{Source: "XForwardedFor", TrustedCIDRs: []string{"10.0.0.1/8"}}), "spec.clientIP.trustedCIDRs[0]", "write 10.0.0.0/8, or 10.0.0.1/32"},
		"too many ranges":           {clientIP(v1alpha1.ClientIP{Source: "XForwardedFor", TrustedCIDRs: make([]string, 33)}), "spec.clientIP.trustedCIDRs", "at most 32"},
		"nothing is exempt":         {exempt(v1alpha1.Exempt{}), "spec.exempt", "remove exempt"},
		"exempt mapped range":       {exempt(v1alpha1.Exempt{CIDRs: []string{"::ffff:10.0.0.0/104"}}), "spec.exempt.cidrs[0]", "IPv4 addresses"},
		"too many exempt ranges":    {exempt(v1alpha1.Exempt{CIDRs: make([]string, 257)}), "spec.exempt.cidrs", "at most 256"},
		"exempt path":               {exempt(v1alpha1.Exempt{Paths: []v1alpha1.PathMatch{{Value: "/a//b"}}}), "spec.exempt.paths[0].value", `"/a/b"`},
		"exempt header's name":      {exempt(v1alpha1.Exempt{Headers: []v1alpha1.ExemptHeader{{Name: "a b"}}}), "spec.exempt.headers[0].name", "X-Internal-Token"},
		"exempt header of nothing":  {exempt(v1alpha1.Exempt{Headers: []v1alpha1.ExemptHeader{{Name: "A", SHA256: "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"}}}), "spec.exempt.headers[0].sha256", "empty"},
		"exempt header in clear":    {exempt(v1alpha1.Exempt{Headers: []v1alpha1.ExemptHeader{{Name: "A", SHA256: "hunter2"}}}), "spec.exempt.headers[0].sha256", "64 hexadecimal digits"},
		"cookie without name":       {keyOf(v1alpha1.KeySource{Cookie: &v1alpha1.NamedKey{}}), "spec.rules[0].key[0].from[0].cookie.name", "without white space"},
		"parameter with a space":    {keyOf(v1alpha1.KeySource{QueryParam: &v1alpha1.NamedKey{Name: "a b"}}), "spec.rules[0].key[0].from[0].queryParam.name", "without white space"},
		"path parameter, no match":  {keyOf(id), "spec.rules[0].key[0].from[0]", "no matches"},
		"path parameter in one":     {keyOf(id, "/users/{id}", "/people/{name}"), "spec.rules[0].key[0].from[0]", "matches[1]"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			result := Namespace(namespaceInput(newPolicy("web", tc.change))).Policies["web"]
			if result.Reason != v1alpha1.ReasonInvalid {
				t.Errorf("reason is %s, want %s", result.Reason, v1alpha1.ReasonInvalid)
			}
			for _, problem := range result.Problems {
				if problem.Field == tc.wantField && strings.Contains(problem.Message, tc.wantMessage) {
					return
				}
			}
			t.Errorf("problems are %+v, want one of %s that says %q", result.Problems, tc.wantField, tc.wantMessage)
		})
	}
}

// TestASecretIsNotRepeated since status is read by more people than a policy's author.
func TestASecretIsNotRepeated(t *testing.T) {
	t.Parallel()
	policy := newPolicy("web", exempt(v1alpha1.Exempt{Headers: []v1alpha1.ExemptHeader{{Name: "A", SHA256: "hunter2"}}}))
	for _, problem := range Namespace(namespaceInput(policy)).Policies["web"].Problems {
		if strings.Contains(problem.Message, "hunter2") {
			t.Errorf("the problem repeats the secret: %s", problem.Message)
		}
	}
}

func TestUnresolvedPathParamHasItsReason(t *testing.T) {
	t.Parallel()
	policy := newPolicy("web", keyOf(v1alpha1.KeySource{PathParam: &v1alpha1.NamedKey{Name: "id"}}))
	problems := Namespace(namespaceInput(policy)).Policies["web"].Problems
	if len(problems) != 1 || problems[0].Reason != v1alpha1.ReasonUnresolvedPathParam {
		t.Errorf("problems are %+v, want one with reason %s", problems, v1alpha1.ReasonUnresolvedPathParam)
	}
}

func TestCompiledClientIP(t *testing.T) {
	t.Parallel()
	trusted := []string{"10.0.0.0/8", "2001:DB8::/32"}
	tests := map[string]struct {
		clientIP v1alpha1.ClientIP
		want     ruleset.ClientIP
	}{
		"absent":        {v1alpha1.ClientIP{}, ruleset.ClientIP{IPv6PrefixLength: 64}},
		"XForwardedFor": {v1alpha1.ClientIP{Source: "XForwardedFor", TrustedCIDRs: trusted}, ruleset.ClientIP{Header: "x-forwarded-for", TrustedHops: 1, TrustedCIDRs: []string{"10.0.0.0/8", "2001:db8::/32"}, IPv6PrefixLength: 64}},
		"Header": {
			v1alpha1.ClientIP{Source: "Header", HeaderName: "CF-Connecting-IP", TrustedHops: new(int32(2)), TrustedCIDRs: trusted[:1], IPv6PrefixLength: new(int32(56))},
			ruleset.ClientIP{Header: "cf-connecting-ip", TrustedHops: 2, TrustedCIDRs: []string{"10.0.0.0/8"}, IPv6PrefixLength: 56},
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			out := Namespace(namespaceInput(newPolicy("web", clientIP(tc.clientIP))))
			if problems := out.Policies["web"].Problems; len(problems) > 0 {
				t.Fatal(problems)
			}
			if diff := cmp.Diff(tc.want, out.RuleSet.Policies[0].ClientIP); diff != "" {
				t.Errorf("compiled (-want +got):\n%s", diff)
			}
		})
	}
}
