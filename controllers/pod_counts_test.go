// Copyright The Penstock Authors.
// SPDX-License-Identifier: Apache-2.0

package controllers

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/penstock-dev/penstock/api/v1alpha1"
	"github.com/penstock-dev/penstock/internal/ruleset"
	"github.com/penstock-dev/penstock/internal/store"
)

var noon = time.Date(2026, 1, 2, 12, 0, 0, 0, time.UTC)

// changedAt is the sequence of the policy's last change in these tests.
const changedAt = 100

func TestCountPods(t *testing.T) {
	t.Parallel()
	everyPod := []ruleset.Selector{{}}
	cases := map[string]struct {
		// pod is changed from one that is injected and ready for an hour.
		pod func(*podView)
		// ack is that of the pod, written 3 s ago; nil for none.
		ack func(*store.Ack)
		// view changes what is known besides.
		view       func(*ackView)
		selectors  []ruleset.Selector
		wantCounts string // selected injected enforcing degraded live
		wantReason string // "" : not missing
	}{
		"acknowledged the last change":     {ack: func(*store.Ack) {}, wantCounts: "1 1 1 0 1"},
		"acknowledged a later publication": {ack: func(a *store.Ack) { a.Sequence = changedAt + 1 }, wantCounts: "1 1 1 0 1"},
		"acknowledged an older one": {
			ack:        func(a *store.Ack) { a.Sequence = changedAt - 1 },
			wantCounts: "1 1 0 0 1", wantReason: v1alpha1.ReasonPending,
		},
		"acknowledged an older one, just ready: it speaks, so it is judged": {
			pod:        func(p *podView) { p.readySince = noon.Add(-time.Second) },
			ack:        func(a *store.Ack) { a.Sequence = changedAt - 1 },
			wantCounts: "1 1 0 0 1", wantReason: v1alpha1.ReasonPending,
		},
		"acknowledged one that was never published here": {
			ack:        func(a *store.Ack) { a.Sequence, a.Revision = changedAt+2, "another" },
			wantCounts: "1 1 0 0 1", wantReason: v1alpha1.ReasonPending,
		},
		"acknowledged what stands here, as another store numbered it": {
			ack:        func(a *store.Ack) { a.Sequence, a.Revision = changedAt+2, "stands" },
			wantCounts: "1 1 1 0 1",
		},
		"keeps an older one since it cannot read the newest": {
			ack:        func(a *store.Ack) { a.Sequence, a.Problem = changedAt-1, store.ProblemUnsupportedFormat },
			wantCounts: "1 1 0 0 1", wantReason: v1alpha1.ReasonSidecarOutdated,
		},
		"the app speaks TLS": {
			ack:        func(a *store.Ack) { a.NotHTTP = []int32{8443} },
			wantCounts: "1 1 0 0 1", wantReason: v1alpha1.ReasonNotHTTP,
		},
		"the app speaks TLS at another port than the policy's": {
			ack:        func(a *store.Ack) { a.NotHTTP = []int32{8443} },
			selectors:  []ruleset.Selector{{MatchLabels: map[string]string{"app": "web"}, Port: 8080}, {MatchLabels: map[string]string{"app": "other"}}},
			wantCounts: "1 1 1 0 1",
		},
		"the app speaks TLS at the policy's port": {
			ack:        func(a *store.Ack) { a.NotHTTP = []int32{9443, 8443} },
			selectors:  []ruleset.Selector{{MatchLabels: map[string]string{"app": "web"}, Port: 8443}},
			wantCounts: "1 1 0 0 1", wantReason: v1alpha1.ReasonNotHTTP,
		},
		"breaker open": {
			ack:        func(a *store.Ack) { a.BreakerOpen = true },
			wantCounts: "1 1 1 1 1", wantReason: v1alpha1.ReasonStoreDegraded,
		},
		"no ack, ready for 9 s": {
			pod:        func(p *podView) { p.readySince = noon.Add(-9 * time.Second) },
			wantCounts: "1 1 0 0 0",
		},
		"no ack, ready for 11 s": {
			pod:        func(p *podView) { p.readySince = noon.Add(-11 * time.Second) },
			wantCounts: "1 1 0 0 0", wantReason: v1alpha1.ReasonPending,
		},
		"no ack, ready for 31 s": {
			pod:        func(p *podView) { p.readySince = noon.Add(-31 * time.Second) },
			wantCounts: "1 1 0 0 0", wantReason: v1alpha1.ReasonSidecarSilent,
		},
		"no ack, ready for an hour, but nobody listened until now": {
			view:       func(v *ackView) { v.listeningSince = noon },
			wantCounts: "1 1 0 0 0", wantReason: v1alpha1.ReasonPending,
		},
		"ack 31 s old": {
			ack:        func(*store.Ack) {},
			view:       func(v *ackView) { v.lastSeen["uid"] = noon.Add(-31 * time.Second) },
			wantCounts: "1 1 0 0 0", wantReason: v1alpha1.ReasonSidecarSilent,
		},
		"ack 29 s old": {
			ack:        func(*store.Ack) {},
			view:       func(v *ackView) { v.lastSeen["uid"] = noon.Add(-29 * time.Second) },
			wantCounts: "1 1 1 0 1",
		},
		"ack a minute old, since the store was down": {
			ack: func(*store.Ack) {},
			view: func(v *ackView) {
				v.lastSeen["uid"] = noon.Add(-time.Minute)
				v.listeningSince = noon.Add(-time.Second)
			},
			wantCounts: "1 1 1 0 1",
		},
		"acks flushed from the store": {
			view:       func(v *ackView) { v.lastSeen["uid"] = noon.Add(-5 * time.Second) },
			wantCounts: "1 1 0 0 0", wantReason: v1alpha1.ReasonPending,
		},
		"no sidecar": {
			pod:        func(p *podView) { p.injected = false },
			wantCounts: "1 0 0 0 0", wantReason: v1alpha1.ReasonNotInjected,
		},
		"no sidecar, just ready": {
			pod:        func(p *podView) { p.injected, p.readySince = false, noon.Add(-time.Second) },
			wantCounts: "1 0 0 0 0",
		},
		"an ack is no sidecar": {
			pod:        func(p *podView) { p.injected = false },
			ack:        func(*store.Ack) {},
			wantCounts: "1 0 0 0 1", wantReason: v1alpha1.ReasonNotInjected,
		},
		"not ready": {
			pod:        func(p *podView) { p.readySince = time.Time{} },
			wantCounts: "1 1 0 0 0",
		},
		"not selected": {
			ack:        func(*store.Ack) {},
			selectors:  []ruleset.Selector{{MatchLabels: map[string]string{"app": "other"}}},
			wantCounts: "0 0 0 0 0",
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			pod := podView{name: "web-1", uid: "uid", labels: map[string]string{"app": "web"}, injected: true, readySince: noon.Add(-time.Hour)}
			if tc.pod != nil {
				tc.pod(&pod)
			}
			view := ackView{
				now: noon, listeningSince: noon.Add(-time.Hour),
				acks: map[string]store.Ack{}, lastSeen: map[string]time.Time{},
				published: store.Publication{Sequence: changedAt + 1, Revision: "stands"},
			}
			if tc.ack != nil {
				ack := store.Ack{PodUID: "uid", PodName: "web-1", Sequence: changedAt, Version: "v1"}
				tc.ack(&ack)
				view.acks["uid"], view.lastSeen["uid"] = ack, noon.Add(-3*time.Second)
			}
			if tc.view != nil {
				tc.view(&view)
			}
			if tc.selectors == nil {
				tc.selectors = everyPod
			}
			got := countPods([]podView{pod}, tc.selectors, changedAt, view)
			counts := fmt.Sprint(got.selected, got.injected, got.enforcing, got.degraded, got.live)
			if counts != tc.wantCounts {
				t.Errorf("selected, injected, enforcing, degraded, live are %s, want %s", counts, tc.wantCounts)
			}
			var reasons []string
			for reason := range got.missing {
				reasons = append(reasons, reason)
			}
			if found := strings.Join(reasons, " "); found != tc.wantReason {
				t.Errorf("missing for reason %q, want %q", found, tc.wantReason)
			}
		})
	}
}

func TestWithoutPublicationNothingIsEnforced(t *testing.T) {
	t.Parallel()
	pod := podView{name: "web-1", uid: "uid", injected: true, readySince: noon.Add(-time.Hour)}
	view := ackView{
		now: noon, listeningSince: noon, published: store.Publication{Sequence: 5},
		acks:     map[string]store.Ack{"uid": {PodUID: "uid", Sequence: 5}},
		lastSeen: map[string]time.Time{"uid": noon},
	}
	if got := countPods([]podView{pod}, []ruleset.Selector{{}}, 0, view); got.enforcing != 0 {
		t.Errorf("%d pods enforce a policy that was never published, want 0", got.enforcing)
	}
}

func TestViewPod(t *testing.T) {
	t.Parallel()
	ready := corev1.PodCondition{Type: corev1.PodReady, Status: corev1.ConditionTrue, LastTransitionTime: metav1.NewTime(noon)}
	sidecar := corev1.PodSpec{InitContainers: []corev1.Container{{Name: "migrate"}, {Name: v1alpha1.SidecarContainerName}}}
	deleted := metav1.NewTime(noon)
	cases := map[string]struct {
		pod           corev1.Pod
		want          podView
		wantReachable bool
	}{
		"injected and ready": {
			pod:           corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: "a", UID: "u"}, Spec: sidecar, Status: corev1.PodStatus{Conditions: []corev1.PodCondition{ready}}},
			want:          podView{name: "a", uid: "u", injected: true, readySince: noon},
			wantReachable: true,
		},
		"skipped, with the reason": {
			pod: corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: "a", UID: "u", Annotations: map[string]string{
				v1alpha1.AnnotationStatus: `{"injected":false,"reason":"HostNetwork"}`,
			}}},
			want:          podView{name: "a", uid: "u", report: &v1alpha1.PodInjection{Reason: "HostNetwork"}},
			wantReachable: true,
		},
		"an annotation that somebody else wrote": {
			pod:           corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: "a", UID: "u", Annotations: map[string]string{v1alpha1.AnnotationStatus: "injected"}}},
			want:          podView{name: "a", uid: "u"},
			wantReachable: true,
		},
		"terminating": {pod: corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: "a", DeletionTimestamp: &deleted}, Spec: sidecar}},
		"succeeded":   {pod: corev1.Pod{Status: corev1.PodStatus{Phase: corev1.PodSucceeded}}},
		"failed":      {pod: corev1.Pod{Status: corev1.PodStatus{Phase: corev1.PodFailed}}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got, reachable := viewPod(&tc.pod)
			if reachable != tc.wantReachable {
				t.Errorf("reachable is %v, want %v", reachable, tc.wantReachable)
			}
			if diff := cmp.Diff(tc.want, got, cmp.AllowUnexported(podView{})); diff != "" {
				t.Errorf("view (-want +got):\n%s", diff)
			}
			// What the cache keeps of a pod must be enough for the view of it.
			slim := tc.pod.DeepCopy()
			slimPod(slim)
			fromSlim, _ := viewPod(slim)
			if diff := cmp.Diff(got, fromSlim, cmp.AllowUnexported(podView{})); diff != "" {
				t.Errorf("view of the cached pod (-whole +cached):\n%s", diff)
			}
		})
	}
}
