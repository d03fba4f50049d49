// Copyright The Penstock Authors.
// SPDX-License-Identifier: Apache-2.0

package controllers_test

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/penstock-dev/penstock/api/v1alpha1"
	"github.com/penstock-dev/penstock/internal/keys"
	"github.com/penstock-dev/penstock/internal/ruleset"
)

// tenYears makes a limit that the schema admits and the compiler refuses: a full
// bucket would take too long to fill.
func tenYears(spec *v1alpha1.RateLimitPolicySpec) {
	spec.Rules[0].Limits[0] = v1alpha1.Limit{Name: "hourly", Requests: 1, Window: "9600h", Burst: new(int64(1000))}
}

func TestInvalidEditKeepsTheLastValidRulesInForce(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	pod := s.pod("web-1")
	policy := s.policy("web")
	eventually(t, "published rules", s.rules, []string{"web@1: 10"})
	s.acknowledge(pod)
	eventually(t, "ready", func() string { return s.condition(policy, v1alpha1.ConditionReady) }, "True/Ready")

	s.edit(policy, tenYears)
	eventually(t, "ready after an invalid edit", func() string { return s.condition(policy, v1alpha1.ConditionReady) }, "False/Invalid")
	status := s.read(policy).Status
	if status.ActiveGeneration != 1 || status.ObservedGeneration != 2 {
		t.Errorf("active generation %d, observed %d, want 1 and 2", status.ActiveGeneration, status.ObservedGeneration)
	}
	if len(status.Problems) == 0 || !strings.HasPrefix(status.Problems[0].Field, "spec.rules[0].limits[0]") {
		t.Errorf("problems are %+v, want the limit's field", status.Problems)
	}
	if got := conditionOf(status.Conditions, v1alpha1.ConditionEnforced); got != "True/Enforced" {
		t.Errorf("enforced is %s, want True/Enforced: the last valid rules are in force", got)
	}
	if !meta.IsStatusConditionTrue(status.Conditions, v1alpha1.ConditionStalled) {
		t.Error("the policy is not stalled, though a person must act")
	}
	if got := s.rules(); len(got) != 1 || got[0] != "web@1: 10" {
		t.Errorf("published rules are %q, want those of generation 1", got)
	}

	s.edit(policy, func(spec *v1alpha1.RateLimitPolicySpec) {
		spec.Rules[0].Limits[0] = v1alpha1.Limit{Name: "hourly", Requests: 30, Window: "1h"}
	})
	eventually(t, "published rules after the edit was mended", s.rules, []string{"web@3: 30"})
}

func TestLastValidRulesSurviveARestart(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	policy := s.policy("web")
	eventually(t, "published rules", s.rules, []string{"web@1: 10"})
	s.edit(policy, tenYears)
	eventually(t, "ready", func() string { return s.condition(policy, v1alpha1.ConditionReady) }, "False/Invalid")

	s.stopOperator()
	s.label("restarted", "once") // gives the new operator something to look at
	s.startOperator()
	other := s.policy("zoo")
	eventually(t, "published rules after a restart", s.rules, []string{"web@1: 10", "zoo@1: 10"})
	eventually(t, "the other one", func() string { return s.condition(other, v1alpha1.ConditionProgrammed) }, "True/Programmed")
	if got := s.read(policy).Status.ActiveGeneration; got != 1 {
		t.Errorf("active generation is %d after a restart, want 1", got)
	}
}

func TestLastValidRulesSurviveARestartAndAFlush(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	policy := s.policy("web")
	eventually(t, "published rules", s.rules, []string{"web@1: 10"})
	s.advance(31 * time.Second) // the snapshot is written every 30 s
	eventually(t, "rules in the snapshot", s.snapshotRules, []string{"web@1: 10"})
	s.edit(policy, tenYears)
	eventually(t, "ready", func() string { return s.condition(policy, v1alpha1.ConditionReady) }, "False/Invalid")

	s.stopOperator()
	if err := s.rdb.FlushAll(t.Context()).Err(); err != nil {
		t.Fatal(err)
	}
	s.startOperator()
	eventually(t, "published rules after a restart and a flush", s.rules, []string{"web@1: 10"})
}

func TestLastValidRulesSurviveARestartWithADamagedBody(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	policy := s.policy("web")
	eventually(t, "published rules", s.rules, []string{"web@1: 10"})
	s.advance(31 * time.Second)
	eventually(t, "rules in the snapshot", s.snapshotRules, []string{"web@1: 10"})
	s.edit(policy, tenYears)
	eventually(t, "ready", func() string { return s.condition(policy, v1alpha1.ConditionReady) }, "False/Invalid")

	s.stopOperator()
	before := s.published().Sequence
	if err := s.rdb.HSet(t.Context(), keys.Prefix(keys.DefaultPrefix).Rules(s.namespace), "body", "damaged").Err(); err != nil {
		t.Fatal(err)
	}
	s.startOperator()
	eventually(t, "a later publication", func() bool { return s.published().Sequence > before }, true)
	eventually(t, "published rules after a restart", s.rules, []string{"web@1: 10"})
}

func TestSnapshotOfAnotherNamespaceIsNotTaken(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	policy := s.policy("web")
	eventually(t, "rules in the snapshot", s.snapshotRules, []string{"web@1: 10"})
	s.edit(policy, tenYears)
	eventually(t, "ready", func() string { return s.condition(policy, v1alpha1.ConditionReady) }, "False/Invalid")
	s.stopOperator()
	if err := s.rdb.FlushAll(t.Context()).Err(); err != nil {
		t.Fatal(err)
	}
	body, revision, err := ruleset.Encode(&ruleset.RuleSet{Format: ruleset.Format, Namespace: "another", Policies: []ruleset.Policy{{
		Kind: "RateLimitPolicy", Name: policy.Name, Generation: 1, Selectors: []ruleset.Selector{{}},
		Rules: []ruleset.Rule{{Name: "all", Limits: []ruleset.Limit{{Name: "hourly", Requests: 1}}}},
	}}})
	if err != nil {
		t.Fatal(err)
	}
	forged, err := json.Marshal(ruleset.Published{Sequence: s.snapshot().Sequence + 1, Revision: revision, Body: body})
	if err != nil {
		t.Fatal(err)
	}
	secret := s.secret()
	secret.Data["rules.json"] = forged
	if err := s.client.Update(t.Context(), secret); err != nil {
		t.Fatal(err)
	}
	s.startOperator()
	eventually(t, "published rules", s.rules, []string{})
}

func TestRestartDuringAnOutageKeepsTheSnapshot(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	policy := s.policy("web")
	eventually(t, "published rules", s.rules, []string{"web@1: 10"})
	s.advance(31 * time.Second)
	eventually(t, "rules in the snapshot", s.snapshotRules, []string{"web@1: 10"})
	s.stopOperator()
	s.redis.Stop()
	s.startOperator()
	eventually(t, "ready", func() string { return s.condition(policy, v1alpha1.ConditionReady) }, "Unknown/StoreUnavailable")
	if got := s.read(policy).Status.ActiveGeneration; got != 1 {
		t.Errorf("active generation is %d, want 1 as the snapshot has it", got)
	}
	s.advance(31 * time.Second) // the Secret is looked at again
	s.label("looked-at", "again")
	other := s.policy("zoo") // its status proves that the namespace was
	eventually(t, "the other one", func() string { return s.condition(other, v1alpha1.ConditionReady) }, "False/StoreUnavailable")
	if got := s.snapshotRules(); len(got) != 1 || got[0] != "web@1: 10" {
		t.Errorf("rules in the snapshot are %q after a restart in an outage, want those of before", got)
	}
}

func TestClusterPolicyIsNotImplemented(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	policy := &v1alpha1.ClusterRateLimitPolicy{
		ObjectMeta: metav1.ObjectMeta{Name: s.namespace}, // the only one that this operator sees
		Spec: v1alpha1.ClusterRateLimitPolicySpec{
			NamespaceSelector: &metav1.LabelSelector{},
			PolicyRules: v1alpha1.PolicyRules{Rules: []v1alpha1.Rule{{
				Name: "all", Limits: []v1alpha1.Limit{{Name: "hourly", Requests: 10, Window: "1h"}},
			}}},
		},
	}
	create(t, s.client, policy)
	for _, kind := range []string{v1alpha1.ConditionAccepted, v1alpha1.ConditionReady} {
		eventually(t, kind, func() string {
			found := &v1alpha1.ClusterRateLimitPolicy{}
			if err := s.client.Get(t.Context(), client.ObjectKeyFromObject(policy), found); err != nil {
				t.Fatal(err)
			}
			return conditionOf(found.Status.Conditions, kind)
		}, "False/NotImplemented")
	}
}

func TestDisabledPolicyHasNoRules(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	policy := s.policy("web")
	eventually(t, "published rules", s.rules, []string{"web@1: 10"})
	s.edit(policy, func(spec *v1alpha1.RateLimitPolicySpec) { spec.Mode = v1alpha1.ModeDisabled })
	eventually(t, "published rules", s.rules, []string{})
	eventually(t, "ready", func() string { return s.condition(policy, v1alpha1.ConditionReady) }, "True/Disabled")
}

func TestShadowPolicyIsInForce(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	policy := s.policy("web", func(policy *v1alpha1.RateLimitPolicy) { policy.Spec.Mode = v1alpha1.ModeShadow })
	eventually(t, "published rules", s.rules, []string{"web@1: 10"})
	eventually(t, "ready", func() string { return s.condition(policy, v1alpha1.ConditionReady) }, "True/NoPods")
	found := &v1alpha1.RateLimitPolicy{}
	if err := s.client.Get(t.Context(), client.ObjectKeyFromObject(policy), found); err != nil {
		t.Fatal(err)
	}
	if effective := found.Status.Effective; effective == nil || effective.Mode != v1alpha1.ModeShadow {
		t.Errorf("status.effective is %+v, want mode Shadow", effective)
	}
}

func TestDeletedPolicyIsOutOfForce(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	policy := s.policy("web")
	s.policy("zoo")
	eventually(t, "published rules", s.rules, []string{"web@1: 10", "zoo@1: 10"})
	if err := s.client.Delete(t.Context(), policy); err != nil {
		t.Fatal(err)
	}
	eventually(t, "published rules", s.rules, []string{"zoo@1: 10"})
}
