// Copyright The Penstock Authors.
// SPDX-License-Identifier: Apache-2.0

package compile

import (
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/penstock-dev/penstock/api/v1alpha1"
	"github.com/penstock-dev/penstock/internal/ruleset"
)

func serviceSection(section string) v1alpha1.TargetReference {
	return v1alpha1.TargetReference{Kind: v1alpha1.TargetService, Name: "front", SectionName: section}
}

// TestSections has a policy name ports of a Service.
func TestSections(t *testing.T) {
	t.Parallel()
	service := func(section string) Target { return Target{Kind: "Service", Name: "front", SectionName: section} }
	web := map[string]string{"app": "web"}
	tests := map[string]struct {
		resolved    Resolved
		want        []ruleset.Selector
		wantProblem string
	}{
		"a port":             {Resolved{Selector: appSelector("web"), Ports: []int32{8080}}, []ruleset.Selector{{MatchLabels: web, Port: 8080}}, ""},
		"pods differ":        {Resolved{Selector: appSelector("web"), Ports: []int32{8080, 9090}}, []ruleset.Selector{{MatchLabels: web, Port: 8080}, {MatchLabels: web, Port: 9090}}, ""},
		"no pod tells":       {Resolved{Selector: appSelector("web"), Ports: []int32{NoPort}}, []ruleset.Selector{{MatchLabels: web, Port: NoPort}}, ""},
		"an unknown section": {Resolved{Selector: appSelector("web"), NoSuchSection: true, Sections: []string{"admin", "http"}}, nil, "write one of admin, http"},
		"no section at all":  {Resolved{Selector: appSelector("web"), NoSuchSection: true}, nil, "has no TCP port with a name"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			policy := newPolicy("web", func(p *v1alpha1.RateLimitPolicy) {
				p.Spec.Selector, p.Spec.TargetRefs = nil, []v1alpha1.TargetReference{serviceSection("grpc")}
			})
			result, rules := compileOne(t, nil, map[Target]Resolved{service("grpc"): tc.resolved}, policy)
			if tc.wantProblem != "" {
				if result.Reason != v1alpha1.ReasonTargetNotFound || len(result.Problems) != 1 ||
					result.Problems[0].Field != "spec.targetRefs[0].sectionName" || !strings.Contains(result.Problems[0].Message, tc.wantProblem) {
					t.Errorf("reason %s, problems %+v, want TargetNotFound with %q", result.Reason, result.Problems, tc.wantProblem)
				}
				return
			}
			if diff := cmp.Diff(tc.want, rules.Policies[0].Selectors); diff != "" || result.Reason != v1alpha1.ReasonAccepted {
				t.Errorf("reason %s, selectors (-want +got):\n%s", result.Reason, diff)
			}
		})
	}
}

// TestTargetsHaveKeysOfTheirOwn has one rule count targets apart, and one together.
func TestTargetsHaveKeysOfTheirOwn(t *testing.T) {
	t.Parallel()
	policy := newPolicy("web", targeting("web", "api"), func(p *v1alpha1.RateLimitPolicy) {
		apart := p.Spec.Rules[0]
		apart.Name, apart.Scope = "apart", v1alpha1.ScopeTarget
		p.Spec.Rules = append(p.Spec.Rules, apart)
	})
	result, rules := compileOne(t, nil, deployments("web", "api"), policy)
	if result.Reason != v1alpha1.ReasonAccepted {
		t.Fatalf("problems: %+v", result.Problems)
	}
	form := rules.Policies[0]
	// The first that selects a pod counts, so the order is the policy's.
	if diff := cmp.Diff([]string{"Deployment/web", "Deployment/api"}, targetNames(form.Selectors)); diff != "" {
		t.Errorf("targets (-want +got):\n%s", diff)
	}
	if together := form.Rules[0].Limits[0]; together.TargetKeys != nil {
		t.Errorf("a rule of scope Policy has keys of targets: %v", together.TargetKeys)
	}
	apart := form.Rules[1].Limits[0]
	if diff := cmp.Diff([]string{"Deployment/api", "Deployment/web"}, slices.Sorted(maps.Keys(apart.TargetKeys))); diff != "" {
		t.Errorf("keys of targets (-want +got):\n%s", diff)
	}
	distinct := map[string]bool{apart.Key: true, form.Rules[0].Limits[0].Key: true}
	for _, key := range apart.TargetKeys {
		distinct[key] = true
	}
	if len(distinct) != 4 {
		t.Errorf("keys are not distinct: %v", distinct)
	}
	if diff := cmp.Diff(apart.TargetKeys["Deployment/web"], limitKey(form.Kind, "web", "apart", "", "Deployment/web", &apart)); diff != "" {
		t.Errorf("key of a target (-want +got):\n%s", diff)
	}
}

// TestKeysOfTargetsMustDiffer has a limit share the key of another's target.
func TestKeysOfTargetsMustDiffer(t *testing.T) {
	t.Parallel()
	form := func(name, key string, targets map[string]string) *ruleset.Policy {
		return &ruleset.Policy{Name: name, Selectors: []ruleset.Selector{appSelector(name)}, Rules: []ruleset.Rule{{
			Name: "all", Limits: []ruleset.Limit{{Name: "minute", Key: key, TargetKeys: targets}},
		}}}
	}
	a, b := form("a", "one", map[string]string{"Deployment/web": "two"}), form("b", "two", nil)
	const want = "the limits a/all/minute of Deployment/web and b/all/minute would be counted under the same key by chance"
	if got := misfit([]*ruleset.Policy{a, b}); !strings.Contains(got, want) {
		t.Errorf("misfit says %q, want %q", got, want)
	}
	standing := newStanding()
	standing.put("a", a)
	if near := standing.neighbours(b); len(near) != 2 {
		t.Errorf("%d neighbours, want both: they share a key", len(near))
	}
}

func TestScopePodNeedsNoStore(t *testing.T) {
	t.Parallel()
	result, rules := compileOne(t, nil, nil, newPolicy("web", inRule(func(r *v1alpha1.Rule) { r.Scope = v1alpha1.ScopePod })))
	if result.Reason != v1alpha1.ReasonAccepted || !rules.Policies[0].Rules[0].PodScoped || result.Effective.Defaults.OnStoreFailure != "" {
		t.Errorf("reason %s, rule %+v, defaults %+v", result.Reason, rules.Policies[0].Rules[0], result.Effective.Defaults)
	}
}

func TestEnforcePercentOfNobodyIsAShadow(t *testing.T) {
	t.Parallel()
	for percent, want := range map[int32]ruleset.Rule{0: {Shadow: true}, 25: {EnforcePercent: new(25)}, 100: {}} {
		result, rules := compileOne(t, nil, nil, newPolicy("web", inRule(func(r *v1alpha1.Rule) { r.EnforcePercent = new(percent) })))
		got := rules.Policies[0].Rules[0]
		if diff := cmp.Diff(want, ruleset.Rule{Shadow: got.Shadow, EnforcePercent: got.EnforcePercent}); diff != "" {
			t.Errorf("%d percent (-want +got):\n%s", percent, diff)
		}
		if wantMode := map[bool]v1alpha1.Mode{true: v1alpha1.ModeShadow, false: v1alpha1.ModeEnforce}[percent == 0]; result.Effective.Mode != wantMode {
			t.Errorf("%d percent: mode %s, want %s", percent, result.Effective.Mode, wantMode)
		}
	}
}
