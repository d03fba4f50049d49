// Copyright The Penstock Authors.
// SPDX-License-Identifier: Apache-2.0

package controllers

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/penstock-dev/penstock/api/v1alpha1"
	"github.com/penstock-dev/penstock/internal/ruleset"
	"github.com/penstock-dev/penstock/internal/store"
)

func TestPeerIsProxy(t *testing.T) {
	t.Parallel()
	const policy = "RateLimitPolicy/web"
	cases := map[string]struct {
		// change is made to what the one pod says, or is.
		change    func(*podView, *store.Ack)
		selectors []ruleset.Selector
		// want is in the message; empty for no warning.
		want string
	}{
		"seen":           {want: "pod web-1 was sent requests with X-Forwarded-For from a private address"},
		"how to mend it": {want: "set source to XForwardedFor, trustedCIDRs to"},
		"X-Real-IP":      {change: func(_ *podView, a *store.Ack) { a.PeerIsProxy[policy] = "X-Real-Ip" }, want: "set source to Header, headerName to X-Real-IP, trustedCIDRs"},
		"Forwarded":      {change: func(_ *podView, a *store.Ack) { a.PeerIsProxy[policy] = "Forwarded" }, want: "have the proxy write X-Forwarded-For"},
		"a field nobody sends": {
			change: func(_ *podView, a *store.Ack) { a.PeerIsProxy[policy] = "x\nnonsense" },
			want:   "requests with the header of a proxy from",
		},
		"not ready": {change: func(p *podView, _ *store.Ack) { p.readySince = time.Time{} }, want: "pod web-1"},
		"by another policy": {change: func(_ *podView, a *store.Ack) {
			a.PeerIsProxy = map[string]string{"RateLimitPolicy/other": "Forwarded"}
		}},
		"before the policy's last change": {change: func(_ *podView, a *store.Ack) { a.Sequence = changedAt - 1 }},
		"no sidecar":                      {change: func(p *podView, _ *store.Ack) { p.injected = false }},
		"not selected":                    {selectors: []ruleset.Selector{{MatchLabels: map[string]string{"app": "other"}}}},
		"nothing seen":                    {change: func(_ *podView, a *store.Ack) { a.PeerIsProxy = nil }},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			pod := podView{name: "web-1", uid: "uid", labels: map[string]string{"app": "web"}, injected: true, readySince: noon.Add(-time.Hour)}
			ack := store.Ack{PodUID: "uid", Sequence: changedAt, PeerIsProxy: map[string]string{policy: "X-Forwarded-For"}}
			if tc.change != nil {
				tc.change(&pod, &ack)
			}
			view := ackView{
				now: noon, listeningSince: noon.Add(-time.Hour), published: store.Publication{Sequence: changedAt},
				acks: map[string]store.Ack{"uid": ack}, lastSeen: map[string]time.Time{"uid": noon.Add(-3 * time.Second)},
			}
			if tc.selectors == nil {
				tc.selectors = []ruleset.Selector{{}}
			}
			got := peerIsProxy([]podView{{name: "web-0", uid: "none"}, pod}, tc.selectors, policy, changedAt, view)
			if (got != nil) != (tc.want != "") {
				t.Fatalf("the warning is %+v, want one: %v", got, tc.want != "")
			}
			if got != nil && (!strings.Contains(got.Message, tc.want) || got.Field != "spec.clientIP") {
				t.Errorf("the warning is %+v, want %q in it", got, tc.want)
			}
		})
	}
	silent := ackView{
		now: noon, listeningSince: noon.Add(-time.Hour), published: store.Publication{Sequence: changedAt},
		acks:     map[string]store.Ack{"uid": {Sequence: changedAt, PeerIsProxy: map[string]string{policy: "Forwarded"}}},
		lastSeen: map[string]time.Time{"uid": noon.Add(-time.Minute)},
	}
	if got := peerIsProxy([]podView{{uid: "uid", injected: true}}, []ruleset.Selector{{}}, policy, changedAt, silent); got != nil {
		t.Errorf("a pod that is silent warns: %+v", got)
	}
}

func TestPeerIsProxyStaysWhileAcksCannotBeRead(t *testing.T) {
	t.Parallel()
	before := []v1alpha1.Problem{{Reason: v1alpha1.ReasonLiteralPath}, {Reason: v1alpha1.ReasonPeerIsProxy, Message: "seen"}}
	if got := withPeerIsProxy(assessment{storeError: errors.New("down")}, before); len(got) != 1 || got[0] != before[1] {
		t.Errorf("problems are %+v, want the warning of before", got)
	}
	if got := withPeerIsProxy(assessment{}, before); len(got) != 0 {
		t.Errorf("problems are %+v, want none: nothing was seen", got)
	}
	full := assessment{peerIsProxy: &before[1]}
	full.result.Problems = make([]v1alpha1.Problem, maxProblems)
	if got := withPeerIsProxy(full, nil); len(got) != maxProblems {
		t.Errorf("%d problems, want at most %d", len(got), maxProblems)
	}
}
