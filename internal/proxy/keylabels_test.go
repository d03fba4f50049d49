// Copyright The Penstock Authors.
// SPDX-License-Identifier: Apache-2.0

package proxy

import (
	"net/http"
	"strconv"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/prometheus/client_golang/prometheus"
)

// identitySeries are the series of penstock_identity_refusals_total.
func identitySeries(t *testing.T, labels *keyLabels) map[string]float64 {
	t.Helper()
	series := make(map[string]float64)
	err := eachSeries(labels.refusals, func(names map[string]string, value float64) {
		series[names["policy"]+"/"+names["rule"]+"/"+names["identity"]] = value
	})
	if err != nil {
		t.Fatal(err)
	}
	return series
}

func TestKeyLabelsAreCapped(t *testing.T) {
	t.Parallel()
	login, search := RuleName{"web", "login"}, RuleName{"cluster/floor", "search"}
	labels, err := newKeyLabels(prometheus.NewRegistry(), []RuleName{login, search}, 3)
	if err != nil {
		t.Fatal(err)
	}
	count := func(rule RuleName, identity string) {
		labels.count(refusedBy{policy: rule.Policy, rule: rule.Rule, limit: "minute", identity: identity})
	}
	for range 2 {
		for i := range 4 {
			count(login, "id"+strconv.Itoa(i))
		}
	}
	count(search, "id0")
	count(RuleName{"web", "all"}, "id0")
	want := map[string]float64{"web/login/id0": 2, "web/login/id1": 2, "web/login/id2": 2, "web/login/other": 2, "cluster/floor/search/other": 1}
	if diff := cmp.Diff(want, identitySeries(t, labels)); diff != "" {
		t.Errorf("series (-want +got):\n%s", diff)
	}
	// A rule that is no more gives its series up, and others have room.
	labels.retain(map[RuleName]bool{search: true})
	count(search, "id9")
	want = map[string]float64{"cluster/floor/search/other": 1, "cluster/floor/search/id9": 1}
	if diff := cmp.Diff(want, identitySeries(t, labels)); diff != "" {
		t.Errorf("series after rules changed (-want +got):\n%s", diff)
	}
}

func TestSeriesOfRemovedRulesGo(t *testing.T) {
	t.Parallel()
	app := startApp(t, func(http.ResponseWriter, *http.Request) {})
	f := start(t, app, rulesOf(t, onePolicy()), admitting)
	send(t, "GET", f.url, nil, nil)
	counts, err := f.server.metrics.outcomeCounts()
	if err != nil || counts[RuleName{"web", "all"}][outcomeAllowed] != 1 {
		t.Fatalf("counts are %v, %v", counts, err)
	}
	renamed := onePolicy()
	renamed.Name = "api"
	f.server.SetRules(rulesOf(t, onePolicy(), renamed))
	send(t, "GET", f.url, nil, nil)
	f.server.SetRules(rulesOf(t, renamed))
	counts, err = f.server.metrics.outcomeCounts()
	want := map[RuleName]map[string]int64{{"api", "all"}: {outcomeAllowed: 1}}
	if diff := cmp.Diff(want, counts); diff != "" || err != nil {
		t.Errorf("%v, counts (-want +got):\n%s", err, diff)
	}
}
