// Copyright The Penstock Authors.
// SPDX-License-Identifier: Apache-2.0

package proxy

import (
	"net/http"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/penstock-dev/penstock/internal/ruleset"
)

// TestFailedExpressionsOfRemovedRulesGo has two policies whose expressions fail, of a
// rule and of an exemption, and takes one of them away.
func TestFailedExpressionsOfRemovedRulesGo(t *testing.T) {
	t.Parallel()
	const fails = "int(request.headers['x-n']) > 0"
	policies := [2]ruleset.Policy{onePolicy(), onePolicy()}
	policies[1].Name = "api"
	for i := range policies {
		policies[i].Rules[0].When = []string{fails}
		policies[i].Exempt = &ruleset.Exempt{When: []string{fails}}
	}
	f := start(t, startApp(t, func(http.ResponseWriter, *http.Request) {}), rulesOf(t, policies[:]...), admitting)
	send(t, "GET", f.url, nil, nil)
	counted := func() map[RuleName]int {
		counts := make(map[RuleName]int)
		if err := eachSeries(f.server.metrics.expressions, func(labels map[string]string, value float64) {
			counts[RuleName{Policy: labels["policy"], Rule: labels["rule"]}] = int(value)
		}); err != nil {
			t.Fatal(err)
		}
		return counts
	}
	if diff := cmp.Diff(map[RuleName]int{{"web", "all"}: 1, {"web", ""}: 1, {"api", "all"}: 1, {"api", ""}: 1}, counted()); diff != "" {
		t.Errorf("failed expressions (-want +got):\n%s", diff)
	}
	f.server.SetRules(rulesOf(t, policies[1]))
	if diff := cmp.Diff(map[RuleName]int{{"api", "all"}: 1, {"api", ""}: 1}, counted()); diff != "" {
		t.Errorf("once policy web is gone (-want +got):\n%s", diff)
	}
}

func TestModeInDebugRules(t *testing.T) {
	t.Parallel()
	for want, rule := range map[string]ruleset.Rule{
		"Enforce":      {},
		"Enforce 25 %": {EnforcePercent: new(25)},
		"Shadow":       {Shadow: true},
	} {
		if got := viewOf(&ruleset.Policy{}, &rule, nil).Mode; got != want {
			t.Errorf("mode is %q, want %q", got, want)
		}
	}
}
