// Copyright The Penstock Authors.
// SPDX-License-Identifier: Apache-2.0

package controllers

import (
	"errors"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/penstock-dev/penstock/api/v1alpha1"
	"github.com/penstock-dev/penstock/internal/compile"
	"github.com/penstock-dev/penstock/internal/ruleset"
)

func TestWorthWriting(t *testing.T) {
	t.Parallel()
	cases := map[string]struct {
		change    func(*v1alpha1.PolicyStatus)
		sinceLast time.Duration
		want      bool
	}{
		"nothing changed":                {change: func(*v1alpha1.PolicyStatus) {}, sinceLast: time.Hour},
		"counts, just written":           {change: func(s *v1alpha1.PolicyStatus) { s.Pods.Enforcing = 7 }, sinceLast: time.Second},
		"counts, written long ago":       {change: func(s *v1alpha1.PolicyStatus) { s.Pods.Enforcing = 7 }, sinceLast: countsEvery, want: true},
		"a message, just written":        {change: func(s *v1alpha1.PolicyStatus) { s.Conditions[0].Message = "7 of 8" }, sinceLast: time.Second},
		"a condition, just written":      {change: func(s *v1alpha1.PolicyStatus) { s.Conditions[0].Status = metav1.ConditionFalse }, sinceLast: time.Second, want: true},
		"a reason, just written":         {change: func(s *v1alpha1.PolicyStatus) { s.Conditions[0].Reason = "Pending" }, sinceLast: time.Second, want: true},
		"what is in force, just written": {change: func(s *v1alpha1.PolicyStatus) { s.ActiveGeneration = 3 }, sinceLast: time.Second, want: true},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			old := &v1alpha1.PolicyStatus{
				ActiveGeneration: 2, Pods: &v1alpha1.PodCounts{Selected: 8, Enforcing: 8, Summary: "8/8"},
				Conditions: []metav1.Condition{{Type: "Ready", Status: metav1.ConditionTrue, Reason: "Ready", Message: "8 of 8"}},
			}
			wanted := old.DeepCopy()
			tc.change(wanted)
			if got := worthWriting(old, wanted, tc.sinceLast); got != tc.want {
				t.Errorf("worth writing is %v, want %v", got, tc.want)
			}
		})
	}
}

func TestCountsStayWhileAcksCannotBeRead(t *testing.T) {
	t.Parallel()
	policy := &v1alpha1.RateLimitPolicy{Status: v1alpha1.PolicyStatus{Pods: &v1alpha1.PodCounts{Selected: 8, Enforcing: 8, Summary: "8/8"}}}
	a := inForceEverywhere()
	a.storeError, a.pods.enforcing = errors.New("connection refused"), 0
	if got := statusOf(policy, a).Pods.Summary; got != "8/8" {
		t.Errorf("summary is %s while the store is down, want 8/8 as it was", got)
	}
}

func TestWorthAnnouncing(t *testing.T) {
	t.Parallel()
	condition := func(reason string) *metav1.Condition { return &metav1.Condition{Type: "Ready", Reason: reason} }
	cases := map[string]struct {
		before, now *metav1.Condition
		want        bool
	}{
		"first":                     {now: condition("Pending"), want: true},
		"same reason":               {before: condition("Ready"), now: condition("Ready")},
		"another reason":            {before: condition("Pending"), now: condition("Ready"), want: true},
		"an outage begins":          {before: condition("Ready"), now: condition("StoreUnavailable")},
		"an outage ends":            {before: condition("StoreUnavailable"), now: condition("Ready")},
		"made during an outage":     {now: condition("StoreUnavailable")},
		"nothing is known any more": {before: condition("Ready")},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if got := worthAnnouncing(tc.before, tc.now); got != tc.want {
				t.Errorf("worth announcing is %v, want %v", got, tc.want)
			}
		})
	}
}

func TestInForceIsWhatWasPublished(t *testing.T) {
	t.Parallel()
	published := &ruleset.RuleSet{Policies: []ruleset.Policy{{Kind: compile.KindRateLimitPolicy, Name: "web", Generation: 6, Revision: "old"}}}
	cases := map[string]struct {
		published      *ruleset.RuleSet
		result         compile.PolicyResult
		wantActive     int64
		wantProgrammed bool
	}{
		"published":                        {published: published, result: compile.PolicyResult{ActiveGeneration: 6, Revision: "old"}, wantActive: 6, wantProgrammed: true},
		"an edit that changed nothing":     {published: published, result: compile.PolicyResult{ActiveGeneration: 7, Revision: "old"}, wantActive: 7, wantProgrammed: true},
		"an edit that waits":               {published: published, result: compile.PolicyResult{ActiveGeneration: 7, Revision: "new"}, wantActive: 6},
		"a new policy that waits":          {result: compile.PolicyResult{ActiveGeneration: 1, Revision: "new"}},
		"disabled":                         {published: &ruleset.RuleSet{}, result: compile.PolicyResult{ActiveGeneration: 7, Disabled: true}, wantActive: 7, wantProgrammed: true},
		"disabled, but still in the store": {published: published, result: compile.PolicyResult{ActiveGeneration: 7, Disabled: true}, wantActive: 6},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got, programmed := inForce(tc.result, &memory{published: tc.published}, "web")
			if got.ActiveGeneration != tc.wantActive || programmed != tc.wantProgrammed {
				t.Errorf("active generation %d, programmed %v, want %d, %v", got.ActiveGeneration, programmed, tc.wantActive, tc.wantProgrammed)
			}
		})
	}
}
