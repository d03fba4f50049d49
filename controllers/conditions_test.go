// Copyright The Penstock Authors.
// SPDX-License-Identifier: Apache-2.0

package controllers

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/api/meta"

	"github.com/penstock-dev/penstock/api/v1alpha1"
	"github.com/penstock-dev/penstock/internal/compile"
	"github.com/penstock-dev/penstock/internal/ruleset"
)

// inForceEverywhere is a policy at generation 7 that all its 8 pods enforce.
func inForceEverywhere() assessment {
	return assessment{
		generation: 7,
		result: compile.PolicyResult{
			Reason: v1alpha1.ReasonAccepted, ActiveGeneration: 7, Revision: "b3f1c0a9d2e4",
		},
		storeName:  "default",
		programmed: true,
		pods:       podReport{selected: 8, injected: 8, ready: 8, enforcing: 8, missing: map[string][]string{}},
	}
}

func missing(a *assessment, reason, sentence string) {
	a.pods.enforcing--
	a.pods.missing[reason] = append(a.pods.missing[reason], sentence)
}

func TestConditions(t *testing.T) {
	t.Parallel()
	invalid := func(a *assessment, active int64) {
		a.result.Reason = v1alpha1.ReasonInvalid
		a.result.Problems = []v1alpha1.Problem{{Field: "spec.rules[0].limits[0].window", Reason: v1alpha1.ReasonInvalid, Message: "too short"}}
		a.result.ActiveGeneration = active
	}
	cases := map[string]struct {
		change func(*assessment)
		// want is Accepted, Programmed, Enforced, Ready as Status/Reason.
		want        [4]string
		wantStalled bool
		wantMessage string // in Ready's message
	}{
		"in force everywhere": {
			change:      func(*assessment) {},
			want:        [4]string{"True/Accepted", "True/Programmed", "True/Enforced", "True/Ready"},
			wantMessage: "8 of 8 pods enforce the policy",
		},
		"a pod is not ready": {
			change:      func(a *assessment) { a.pods.enforcing, a.pods.ready = 7, 7 },
			want:        [4]string{"True/Accepted", "True/Programmed", "True/Enforced", "True/Ready"},
			wantMessage: "7 of 8 pods enforce the policy (1 not ready)",
		},
		"a pod has just become ready": {
			change:      func(a *assessment) { a.pods.enforcing, a.pods.arriving = 7, 1 },
			want:        [4]string{"True/Accepted", "True/Programmed", "False/Pending", "False/Pending"},
			wantMessage: "7 of 8 pods enforce the policy: 1 have just become ready",
		},
		"a pod has just become ready where the generation was enforced": {
			change:      func(a *assessment) { a.pods.enforcing, a.pods.arriving, a.wasEnforced = 7, 1, true },
			want:        [4]string{"True/Accepted", "True/Programmed", "True/Enforced", "True/Ready"},
			wantMessage: "7 of 8 pods enforce the policy",
		},
		"a pod runs an older rule set": {
			change:      func(a *assessment) { missing(a, v1alpha1.ReasonPending, "pod web-7 still runs an older rule set") },
			want:        [4]string{"True/Accepted", "True/Programmed", "False/Pending", "False/Pending"},
			wantMessage: "7 of 8 pods enforce the policy: pod web-7 still runs an older rule set",
		},
		"no pod has acknowledged yet, none is missing": {
			change:      func(a *assessment) { a.pods.enforcing = 0 },
			want:        [4]string{"True/Accepted", "True/Programmed", "False/Pending", "False/Pending"},
			wantMessage: "0 of 8 pods",
		},
		"a pod has no sidecar": {
			change: func(a *assessment) {
				missing(a, v1alpha1.ReasonNotInjected, "pod web-7 has no sidecar: HostNetwork")
			},
			want:        [4]string{"True/Accepted", "True/Programmed", "False/NotInjected", "False/NotInjected"},
			wantStalled: true,
			wantMessage: "HostNetwork",
		},
		"a way around the sidecar": {
			change:      func(a *assessment) { a.notIntercepted = []string{"service web targets port 8080 by number"} },
			want:        [4]string{"True/Accepted", "True/Programmed", "False/NotIntercepted", "False/NotIntercepted"},
			wantStalled: true,
			wantMessage: "service web",
		},
		"an app speaks TLS": {
			change:      func(a *assessment) { missing(a, v1alpha1.ReasonNotHTTP, "port 8443 of pod web-7 serves TLS") },
			want:        [4]string{"True/Accepted", "True/Programmed", "False/NotHTTP", "False/NotHTTP"},
			wantStalled: true,
			wantMessage: "8443",
		},
		"a sidecar is silent": {
			change:      func(a *assessment) { missing(a, v1alpha1.ReasonSidecarSilent, "the sidecar of pod web-7 is silent") },
			want:        [4]string{"True/Accepted", "True/Programmed", "False/SidecarSilent", "False/SidecarSilent"},
			wantMessage: "web-7",
		},
		"a sidecar is too old": {
			change:      func(a *assessment) { missing(a, v1alpha1.ReasonSidecarOutdated, "pod web-7: UnsupportedFormat") },
			want:        [4]string{"True/Accepted", "True/Programmed", "False/SidecarOutdated", "False/SidecarOutdated"},
			wantStalled: true,
			wantMessage: "UnsupportedFormat",
		},
		"a breaker is open": {
			change: func(a *assessment) {
				a.pods.degraded = 1
				a.pods.missing[v1alpha1.ReasonStoreDegraded] = []string{"pod web-7 does not reach the store"}
			},
			want:        [4]string{"True/Accepted", "True/Programmed", "False/StoreDegraded", "False/StoreDegraded"},
			wantMessage: "web-7 does not reach the store",
		},
		"what no waiting mends comes first": {
			change: func(a *assessment) {
				missing(a, v1alpha1.ReasonPending, "pod web-6 still runs an older rule set")
				missing(a, v1alpha1.ReasonNotInjected, "pod web-7 has no sidecar")
			},
			want:        [4]string{"True/Accepted", "True/Programmed", "False/NotInjected", "False/NotInjected"},
			wantStalled: true,
			wantMessage: "web-7",
		},
		"no pods": {
			change: func(a *assessment) { a.pods = podReport{} },
			want:   [4]string{"True/Accepted", "True/Programmed", "Unknown/NoPods", "True/NoPods"},
		},
		"disabled": {
			change: func(a *assessment) { a.result.Disabled, a.pods.enforcing = true, 0 },
			want:   [4]string{"True/Accepted", "True/Programmed", "False/Disabled", "True/Disabled"},
		},
		"store down, known to be in force": {
			change:      func(a *assessment) { a.storeError = errors.New("connection refused") },
			want:        [4]string{"True/Accepted", "Unknown/StoreUnavailable", "Unknown/StoreUnavailable", "Unknown/StoreUnavailable"},
			wantMessage: "connection refused",
		},
		"store down, never in force": {
			change: func(a *assessment) {
				a.storeError, a.programmed = errors.New("connection refused"), false
				a.result.ActiveGeneration = 0
			},
			want: [4]string{"True/Accepted", "False/StoreUnavailable", "Unknown/StoreUnavailable", "False/StoreUnavailable"},
		},
		"store missing": {
			change:      func(a *assessment) { a.storeMissing, a.storeError = true, errNoStore },
			want:        [4]string{"False/StoreNotFound", "False/StoreNotFound", "Unknown/StoreNotFound", "False/StoreNotFound"},
			wantStalled: true,
			wantMessage: `there is no RateLimitStore "default"`,
		},
		"rule set too large": {
			change: func(a *assessment) {
				a.tooLarge, a.programmed, a.result.ActiveGeneration = fmt.Errorf("%w: at most 1 MiB fits", ruleset.ErrTooLarge), false, 0
			},
			want:        [4]string{"True/Accepted", "False/RuleSetTooLarge", "False/RuleSetTooLarge", "False/RuleSetTooLarge"},
			wantStalled: true,
			wantMessage: "at most 1 MiB fits",
		},
		"rule set too large, but this policy stands": {
			change: func(a *assessment) { a.tooLarge = ruleset.ErrTooLarge },
			want:   [4]string{"True/Accepted", "True/Programmed", "True/Enforced", "True/Ready"},
		},
		"invalid, the last valid generation in force": {
			change:      func(a *assessment) { invalid(a, 6) },
			want:        [4]string{"False/Invalid", "True/Programmed", "True/Enforced", "False/Invalid"},
			wantStalled: true,
			wantMessage: "spec.rules[0].limits[0].window: too short (generation 6 stays in force)",
		},
		"invalid, nothing in force": {
			change:      func(a *assessment) { invalid(a, 0) },
			want:        [4]string{"False/Invalid", "False/Invalid", "False/Invalid", "False/Invalid"},
			wantStalled: true,
		},
		"not implemented": {
			change: func(a *assessment) {
				invalid(a, 0)
				a.result.Reason = v1alpha1.ReasonNotImplemented
			},
			want:        [4]string{"False/NotImplemented", "False/NotImplemented", "False/NotImplemented", "False/NotImplemented"},
			wantStalled: true,
		},
		"a target that does not exist may come": {
			change: func(a *assessment) {
				invalid(a, 0)
				a.result.Reason = v1alpha1.ReasonTargetNotFound
			},
			want: [4]string{"False/TargetNotFound", "False/TargetNotFound", "False/TargetNotFound", "False/TargetNotFound"},
		},
		"not published yet": {
			change: func(a *assessment) { a.programmed, a.result.ActiveGeneration = false, 0 },
			want:   [4]string{"True/Accepted", "False/Pending", "False/Pending", "False/Pending"},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			a := inForceEverywhere()
			tc.change(&a)
			got := conditions(a)
			var found [4]string
			for i, kind := range []string{v1alpha1.ConditionAccepted, v1alpha1.ConditionProgrammed, v1alpha1.ConditionEnforced, v1alpha1.ConditionReady} {
				condition := meta.FindStatusCondition(got, kind)
				found[i] = fmt.Sprintf("%s/%s", condition.Status, condition.Reason)
				if condition.ObservedGeneration != 7 {
					t.Errorf("%s has observedGeneration %d, want 7", kind, condition.ObservedGeneration)
				}
			}
			if diff := cmp.Diff(tc.want, found); diff != "" {
				t.Errorf("Accepted, Programmed, Enforced, Ready (-want +got):\n%s", diff)
			}
			if stalled := meta.IsStatusConditionTrue(got, v1alpha1.ConditionStalled); stalled != tc.wantStalled {
				t.Errorf("stalled is %v, want %v", stalled, tc.wantStalled)
			}
			if message := meta.FindStatusCondition(got, v1alpha1.ConditionReady).Message; !strings.Contains(message, tc.wantMessage) {
				t.Errorf("ready's message is %q, want %q in it", message, tc.wantMessage)
			}
		})
	}
}

func TestMessagesAreBounded(t *testing.T) {
	t.Parallel()
	a := inForceEverywhere()
	for i := range 500 {
		missing(&a, v1alpha1.ReasonPending, fmt.Sprintf("pod web-%d %s", i, strings.Repeat("ü", 400)))
	}
	for _, condition := range conditions(a) {
		if len(condition.Message) > maxMessage {
			t.Errorf("message of %s has %d bytes, want at most %d", condition.Type, len(condition.Message), maxMessage)
		}
	}
	if got, want := list([]string{"a", "b", "c", "d", "e"}), "a; b; c; and 2 more"; got != want {
		t.Errorf("list is %q, want %q", got, want)
	}
}
