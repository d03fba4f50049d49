// Copyright The Penstock Authors.
// SPDX-License-Identifier: Apache-2.0

package compile

import (
	"fmt"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"pgregory.net/rapid"

	"github.com/penstock-dev/penstock/api/v1alpha1"
	"github.com/penstock-dev/penstock/internal/ruleset"
)

func TestLastValidFormStaysInForce(t *testing.T) {
	t.Parallel()
	_, published := compileOne(t, nil, nil, newPolicy("web", requests(10)))
	tests := map[string]struct {
		policy         *v1alpha1.RateLimitPolicy
		wantReason     string
		wantGeneration int64
		wantRequests   []int64
		wantDisabled   bool
	}{
		"a valid edit replaces it": {
			newPolicy("web", generation(2), requests(20)), v1alpha1.ReasonAccepted, 2, []int64{20}, false,
		},
		"an invalid edit keeps it": {
			newPolicy("web", generation(2), requests(20), invalid), v1alpha1.ReasonInvalid, 1, []int64{10}, false,
		},
		"a target that does not exist keeps it": {
			newPolicy("web", generation(2), targeting("wbe")), v1alpha1.ReasonTargetNotFound, 1, []int64{10}, false,
		},
		"disabling takes it out": {
			newPolicy("web", generation(2), disabled), v1alpha1.ReasonAccepted, 2, nil, true,
		},
		"an invalid edit that disables keeps it": {
			newPolicy("web", generation(2), disabled, invalid), v1alpha1.ReasonInvalid, 1, []int64{10}, false,
		},
		"an object made anew under the name is another": {
			newPolicy("web", generation(0), invalid), v1alpha1.ReasonInvalid, 0, nil, false,
		},
		"another policy is another": {
			newPolicy("api", generation(2), invalid), v1alpha1.ReasonInvalid, 0, nil, false,
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			result, rules := compileOne(t, published, nil, tc.policy)
			if result.Reason != tc.wantReason || result.ActiveGeneration != tc.wantGeneration || result.Disabled != tc.wantDisabled {
				t.Errorf("result %+v, want reason %s, generation %d, disabled %t", result, tc.wantReason, tc.wantGeneration, tc.wantDisabled)
			}
			var got []int64
			for _, policy := range rules.Policies {
				for limit := range limitsOf(&policy) {
					got = append(got, limit.Requests)
				}
			}
			if diff := cmp.Diff(tc.wantRequests, got); diff != "" {
				t.Errorf("requests in force (-want +got):\n%s", diff)
			}
			again, _ := compileOne(t, rules, nil, tc.policy)
			if diff := cmp.Diff(result, again); diff != "" && tc.wantGeneration != 0 {
				t.Errorf("compiled again after itself (-first +second):\n%s", diff)
			}
		})
	}
}

func TestDeletedPolicyIsOutOfForce(t *testing.T) {
	t.Parallel()
	_, published := compileOne(t, nil, nil, newPolicy("web"))
	in := namespaceInput(newPolicy("web", func(p *v1alpha1.RateLimitPolicy) { p.DeletionTimestamp = &metav1.Time{} }))
	in.Previous = published
	out := Namespace(in)
	if len(out.RuleSet.Policies) != 0 || len(out.Policies) != 0 {
		t.Errorf("a policy that is being deleted is in force: %+v", out)
	}
}

func TestTargets(t *testing.T) {
	t.Parallel()
	_, both := compileOne(t, nil, deployments("web", "api"), newPolicy("shop", targeting("web", "api")))
	tests := map[string]struct {
		previous       *ruleset.RuleSet
		targets        map[Target]Resolved
		policy         *v1alpha1.RateLimitPolicy
		wantReason     string
		wantGeneration int64
		wantApps       []string
	}{
		"all exist": {
			nil, deployments("web", "api"), newPolicy("shop", targeting("web", "api")), v1alpha1.ReasonAccepted, 1, []string{"api", "web"},
		},
		"none exists yet": {
			nil, nil, newPolicy("shop", targeting("web", "api")), v1alpha1.ReasonTargetNotFound, 0, nil,
		},
		"one exists: it is limited": {
			nil, deployments("web"), newPolicy("shop", targeting("web", "api")), v1alpha1.ReasonTargetNotFound, 1, []string{"web"},
		},
		"one vanished: its pods stay limited": {
			both, deployments("web"), newPolicy("shop", targeting("web", "api")), v1alpha1.ReasonTargetNotFound, 1, []string{"api", "web"},
		},
		"an edit names one that does not exist": {
			both, deployments("web"), newPolicy("shop", generation(2), targeting("web", "apy")), v1alpha1.ReasonTargetNotFound, 1, []string{"api", "web"},
		},
		"an edit drops one": {
			both, deployments("web", "api"), newPolicy("shop", generation(2), targeting("web")), v1alpha1.ReasonAccepted, 2, []string{"web"},
		},
		"a Service without selector selects nothing": {
			nil, map[Target]Resolved{{Group: "apps", Kind: "Deployment", Name: "web"}: {}},
			newPolicy("shop", targeting("web")), v1alpha1.ReasonTargetNotFound, 0, nil,
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			result, _ := compileOne(t, tc.previous, tc.targets, tc.policy)
			if result.Reason != tc.wantReason || result.ActiveGeneration != tc.wantGeneration {
				t.Errorf("result %+v, want reason %s, generation %d", result, tc.wantReason, tc.wantGeneration)
			}
			var apps []string
			for _, selector := range result.Selectors {
				apps = append(apps, selector.MatchLabels["app"])
			}
			if diff := cmp.Diff(tc.wantApps, apps); diff != "" {
				t.Errorf("selected apps (-want +got):\n%s", diff)
			}
		})
	}
}

func TestTargetsToResolveAreNamedOnce(t *testing.T) {
	t.Parallel()
	got := Targets([]*v1alpha1.RateLimitPolicy{
		newPolicy("b", targeting("web", "api")), newPolicy("a", targeting("web")), newPolicy("c"),
		newPolicy("d", targeting("gone"), func(p *v1alpha1.RateLimitPolicy) { p.DeletionTimestamp = &metav1.Time{} }),
	})
	want := []Target{{Group: "apps", Kind: "Deployment", Name: "api"}, {Group: "apps", Kind: "Deployment", Name: "web"}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("targets (-want +got):\n%s", diff)
	}
}

func TestOrderOfInputNeverMatters(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		count := rapid.IntRange(1, 8).Draw(t, "policies")
		policies := make([]*v1alpha1.RateLimitPolicy, count)
		for i := range policies {
			policies[i] = drawPolicy(t, fmt.Sprintf("policy-%d", i))
		}
		in := namespaceInput(policies...)
		in.Targets = deployments("web", "api")
		in.Previous = Namespace(in).RuleSet
		for _, policy := range policies {
			rapid.SampledFrom([]func(*v1alpha1.RateLimitPolicy){func(*v1alpha1.RateLimitPolicy) {}, invalid, disabled, requests(7)}).Draw(t, "edit")(policy)
			policy.Generation++
		}
		first := Namespace(in)
		in.Policies = rapid.Permutation(policies).Draw(t, "order")
		second := Namespace(in)
		if diff := cmp.Diff(first, second); diff != "" {
			t.Fatalf("another order gives another result (-first +second):\n%s", diff)
		}
		_, revision, err := ruleset.Encode(first.RuleSet)
		if err != nil {
			t.Fatal(err)
		}
		if _, again, _ := ruleset.Encode(second.RuleSet); again != revision {
			t.Fatalf("another order gives another revision: %s and %s", revision, again)
		}
	})
}

func drawPolicy(t *rapid.T, name string) *v1alpha1.RateLimitPolicy {
	policy := newPolicy(name, createdAfter(rapid.IntRange(0, 3).Draw(t, "age")))
	if refs := rapid.SliceOfNDistinct(rapid.SampledFrom([]string{"web", "api", "gone"}), 0, 3, rapid.ID[string]).Draw(t, "targets"); len(refs) > 0 {
		targeting(refs...)(policy)
	}
	limits := rapid.IntRange(1, 8).Draw(t, "limits")
	policy.Spec.Rules[0].Limits = nil
	for i := range limits {
		policy.Spec.Rules[0].Limits = append(policy.Spec.Rules[0].Limits, v1alpha1.Limit{Name: fmt.Sprintf("limit-%d", i), Requests: 1, Window: "1s"})
	}
	return policy
}

func TestRevisionIsOfContent(t *testing.T) {
	t.Parallel()
	first, _ := compileOne(t, nil, deployments("web", "api"), newPolicy("shop", targeting("web", "api")))
	reordered, _ := compileOne(t, nil, deployments("web", "api"), newPolicy("shop", generation(2), targeting("api", "web")))
	if first.Revision != reordered.Revision {
		t.Errorf("another order of targets changed the revision from %s to %s", first.Revision, reordered.Revision)
	}
	edited, _ := compileOne(t, nil, deployments("web", "api"), newPolicy("shop", generation(3), targeting("web", "api"), requests(61)))
	if first.Revision == edited.Revision {
		t.Error("another limit kept the revision")
	}
}

func TestAbsentFieldsTakeTheirDefaults(t *testing.T) {
	t.Parallel()
	result, rules := compileOne(t, nil, nil, newPolicy("web"))
	policy := rules.Policies[0]
	want := &v1alpha1.Effective{
		Store: "default", Mode: v1alpha1.ModeEnforce, Rules: 1, MaxLimitsPerRequest: 1,
		Defaults: &v1alpha1.EffectiveDefaults{Algorithm: "TokenBucket", PathMatching: "Loose", OnStoreFailure: "Local"},
	}
	if diff := cmp.Diff(want, result.Effective); diff != "" {
		t.Errorf("effective (-want +got):\n%s", diff)
	}
	if policy.ClientIP.IPv6PrefixLength != 64 || policy.PathMatching != ruleset.PathLoose {
		t.Errorf("policy defaults: %+v", policy)
	}
	rule := policy.Rules[0]
	if rule.OnStoreFailure != ruleset.FailLocal || rule.LoosenessMilli != 1500 || rule.Limits[0].Burst != 60 {
		t.Errorf("rule defaults: %+v", rule)
	}
	if !slices.Equal(policy.Response.Headers, []ruleset.HeaderFamily{ruleset.HeadersRateLimit, ruleset.HeadersXRateLimit}) || policy.Response.OmitOnAllowed {
		t.Errorf("response defaults: %+v", policy.Response)
	}
}

func TestDisabledRuleHasNoForm(t *testing.T) {
	t.Parallel()
	policy := newPolicy("web", func(p *v1alpha1.RateLimitPolicy) {
		off := p.Spec.Rules[0]
		off.Name, off.Mode = "off", v1alpha1.ModeDisabled
		p.Spec.Rules = append(p.Spec.Rules, off)
	})
	result, rules := compileOne(t, nil, nil, policy)
	if len(rules.Policies) != 1 || len(rules.Policies[0].Rules) != 1 || rules.Policies[0].Rules[0].Name != "all" || result.Disabled {
		t.Errorf("rules %+v, disabled %t, want the rule all alone", rules.Policies, result.Disabled)
	}
}
