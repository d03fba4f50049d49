// Copyright The Penstock Authors.
// SPDX-License-Identifier: Apache-2.0

package compile

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"sigs.k8s.io/yaml"

	"github.com/penstock-dev/penstock/api/v1alpha1"
)

// TestPathsThatLookLikePatternsAreAWarning has the policy be in force, and say what to
// write instead.
func TestPathsThatLookLikePatternsAreAWarning(t *testing.T) {
	t.Parallel()
	const exact, prefix, template, expression = v1alpha1.PathMatchExact, v1alpha1.PathMatchPathPrefix, v1alpha1.PathMatchTemplate, v1alpha1.PathMatchRegularExpression
	tests := map[string]struct {
		kind  v1alpha1.PathMatchType
		value string
		// want is empty if there is nothing to warn of.
		want string
	}{
		"colon":                   {exact, "/u/:id", "if :id is meant to, write type: Template and value: /u/{id}"},
		"colon by default":        {"", "/u/:id", "type: Template and value: /u/{id}, or for what is below as well type: RegularExpression and value: /u/[^/]+(/.*)?"},
		"colon in a template":     {template, "/u/{id}/:order", "if :order is meant to, write value: /u/{id}/{order}"},
		"star for a segment":      {exact, "/u/*/orders", "value: /u/{segment2}/orders"},
		"star at the end":         {prefix, "/api*", `type: PathPrefix and value: /api for it and all below, or type: RegularExpression and value: /api.* for all that begins so`},
		"star below":              {exact, "/api/*", "if the * at its end is meant to, write type: PathPrefix and value: /api, which is"},
		"two stars below":         {exact, "/api/**", "type: PathPrefix and value: /api, which is"},
		"star for all":            {exact, "/*", "type: PathPrefix and value: /, which is"},
		"both":                    {prefix, "/u/:id/*", "if :id or the * at its end is meant to, write type: RegularExpression and value: /u/[^/]+/.*"},
		"parameter of a template": {template, "/u/{id}", ""},
		"expression":              {expression, "/u/:id/.*", ""},
		"colon inside":            {exact, "/v1/projects:list", ""},
		"colon before a number":   {exact, "/time/:30", ""},
		"star inside":             {exact, "/a*b/c", ""},
		"plain":                   {prefix, "/api/login", ""},
		"star of no last segment": {exact, "/a*/c", ""},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			result, rules := compileOne(t, nil, nil, newPolicy("web", func(p *v1alpha1.RateLimitPolicy) {
				p.Spec.Rules[0].Matches = []v1alpha1.Match{{Path: &v1alpha1.PathMatch{Type: tc.kind, Value: tc.value}}}
			}))
			if result.Reason != v1alpha1.ReasonAccepted || len(rules.Policies) != 1 {
				t.Fatalf("%s: %v, want it in force", result.Reason, result.Problems)
			}
			requireWarning(t, result, v1alpha1.ReasonLiteralPath, "spec.rules[0].matches[0].path.value", tc.want)
		})
	}
}

// TestPathsInBracesAreToldOfTemplates has the error of a path with braces, which belong
// into no literal path, say so.
func TestPathsInBracesAreToldOfTemplates(t *testing.T) {
	t.Parallel()
	for value, want := range map[string]string{
		"/u/{id}":      "if {id} is meant to, write type: Template and value: /u/{id}",
		"/v1.0/{id}/a": `value: /v1\.0/[^/]+/a(/.*)?`,
		"/u/{id:int}":  "value: /u/{id}",
		"/u/<int:id>":  "value: /u/{id}",
		"/u/${id}":     "value: /u/{id}",
		"/u/[id]":      "value: /u/{id}",
		"/u/{id}/*":    "if {id} or the * at its end is meant to, write type: RegularExpression and value: /u/[^/]+/.*",
		"/a{1}":        "is not in canonical form",
	} {
		result, _ := compileOne(t, nil, nil, newPolicy("web", func(p *v1alpha1.RateLimitPolicy) {
			p.Spec.Rules[0].Matches = []v1alpha1.Match{{Path: &v1alpha1.PathMatch{Value: value}}}
		}))
		if len(result.Problems) != 1 || result.Problems[0].Reason != v1alpha1.ReasonInvalid || !strings.Contains(result.Problems[0].Message, want) {
			t.Errorf("problems of %s are %+v, want one with %q", value, result.Problems, want)
		}
	}
}

func TestExemptionsOfEveryoneAreAWarning(t *testing.T) {
	t.Parallel()
	for cidr, want := range map[string]string{
		"0.0.0.0/0": "is every IPv4 address", "::/0": "is every IPv6 address", "10.0.0.0/8": "", "0.0.0.0/8": "", "::/128": "",
	} {
		result, _ := compileOne(t, nil, nil, newPolicy("web", func(p *v1alpha1.RateLimitPolicy) {
			p.Spec.Exempt = &v1alpha1.Exempt{CIDRs: []string{cidr}}
		}))
		requireWarning(t, result, v1alpha1.ReasonExemptsEveryone, "spec.exempt.cidrs[0]", want)
	}
	result, _ := compileOne(t, nil, nil, newPolicy("web", func(p *v1alpha1.RateLimitPolicy) {
		p.Spec.Exempt = &v1alpha1.Exempt{Paths: []v1alpha1.PathMatch{{Value: "/health*"}}}
	}))
	requireWarning(t, result, v1alpha1.ReasonLiteralPath, "spec.exempt.paths[0].value", "value: /health for it and all below")
}

func TestTrustInEveryoneIsAWarning(t *testing.T) {
	t.Parallel()
	for cidr, want := range map[string]string{
		"0.0.0.0/0": "is every IPv4 address, so that whoever connects with one is believed", "::/0": "is every IPv6 address", "10.0.0.0/8": "", "::/128": "",
	} {
		result, rules := compileOne(t, nil, nil, newPolicy("web", func(p *v1alpha1.RateLimitPolicy) {
			p.Spec.ClientIP = &v1alpha1.ClientIP{Source: v1alpha1.ClientIPXForwardedFor, TrustedCIDRs: []string{cidr}}
		}))
		if len(rules.Policies) != 1 {
			t.Errorf("a policy that trusts %s is not in force", cidr)
		}
		requireWarning(t, result, v1alpha1.ReasonTrustsEveryone, "spec.clientIP.trustedCIDRs[0]", want)
	}
}

// requireWarning wants one warning, or none if no text is wanted.
func requireWarning(t *testing.T, result PolicyResult, reason, field, want string) {
	t.Helper()
	if want == "" {
		if len(result.Problems) > 0 {
			t.Errorf("problems %+v, want none", result.Problems)
		}
		return
	}
	if len(result.Problems) != 1 || result.Problems[0].Reason != reason || result.Problems[0].Field != field ||
		!strings.Contains(result.Problems[0].Message, want) || !IsWarning(result.Problems[0]) {
		t.Errorf("problems %+v, want a warning %s of %s with %q", result.Problems, reason, field, want)
	}
}

// TestSamplesGiveNoWarning looks at each policy in config/samples.
func TestSamplesGiveNoWarning(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob("../../config/samples/*.yaml")
	if err != nil || len(files) == 0 {
		t.Fatalf("samples: %v, %v", files, err)
	}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for document := range strings.SplitSeq(string(text), "\n---\n") {
			policy := &v1alpha1.RateLimitPolicy{}
			if err := yaml.Unmarshal([]byte(document), policy); err != nil || policy.Kind != KindRateLimitPolicy {
				continue
			}
			for _, problem := range Namespace(Input{Policies: []*v1alpha1.RateLimitPolicy{policy}}).Policies[policy.Name].Problems {
				if IsWarning(problem) {
					t.Errorf("%s: %+v", file, problem)
				}
			}
		}
	}
}
