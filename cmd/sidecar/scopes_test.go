// Copyright The Penstock Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"path/filepath"
	"testing"

	"github.com/penstock-dev/penstock/internal/ruleset"
)

// TestSidecarsOfTwoTargets has the pods of each target share a count of two.
func TestSidecarsOfTwoTargets(t *testing.T) {
	t.Parallel()
	server, rules := newStore(t)
	rs := limited(2)
	policy := &rs.Policies[0]
	policy.Rules[0].Limits[0].TargetKeys = map[string]string{"Deployment/web": "webwebwe", "Deployment/api": "apiapiap"}
	policy.Selectors = nil
	for _, app := range []string{"web", "api"} {
		policy.Selectors = append(policy.Selectors, ruleset.Selector{MatchLabels: map[string]string{"app": app}, Target: "Deployment/" + app})
	}
	first := publish(t, rules, rs)
	pod := func(app string) *pod {
		labels := filepath.Join(t.TempDir(), "labels")
		write(t, labels, "app=\""+app+"\"\n")
		p := newPod(t).mount(t, generous(settingsOf(server)))
		p.start(t, "--store="+p.secret, "--labels="+labels)
		p.awaitAck(t, rules, ofSequence(first.Sequence))
		return p
	}
	web, otherWeb, api := pod("web"), pod("web"), pod("api")
	expectStatuses(t, web, 1, map[int]int{200: 1})
	expectStatuses(t, otherWeb, 3, map[int]int{200: 1, 429: 2})
	expectStatuses(t, api, 3, map[int]int{200: 2, 429: 1})
}

// TestEachPodCountsAlone has two sidecars admit two requests each, as written and not
// by their share, though the store is gone.
func TestEachPodCountsAlone(t *testing.T) {
	t.Parallel()
	server, rules := newStore(t)
	rs := limited(2)
	rs.Policies[0].Rules[0].PodScoped = true
	first := publish(t, rules, rs)
	pods := []*pod{newPod(t), newPod(t)}
	for _, p := range pods {
		p.mount(t, settingsOf(server)).start(t)
		p.awaitAck(t, rules, ofSequence(first.Sequence))
	}
	server.Stop()
	for _, p := range pods {
		expectStatuses(t, p, 3, map[int]int{200: 2, 429: 1})
		if got := p.metric(t, "penstock_decisions_total", `outcome="denied"`); got != 1 {
			t.Errorf("%v decisions counted as denied, want 1", got)
		}
	}
}
