// Copyright The Penstock Authors.
// SPDX-License-Identifier: Apache-2.0

package match

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/penstock-dev/penstock/internal/ruleset"
)

// TestTargetsCountApart has a rule with a count for each target beside one that all
// targets share.
func TestTargetsCountApart(t *testing.T) {
	t.Parallel()
	keys := map[string]string{"Deployment/web": "webs", "Service/api/http": "apis", "Service/api/admin": "admins", "DaemonSet/node": "nodes"}
	apart := ruleset.Limit{Name: "apart", Key: "none", TargetKeys: keys}
	rs := rulesWith(
		ruleset.Rule{Name: "shared", Limits: []ruleset.Limit{{Name: "all", Key: "all"}}},
		ruleset.Rule{Name: "apart", Limits: []ruleset.Limit{apart}},
	)
	label := func(name string) map[string]string { return map[string]string{name: "yes"} }
	rs.Policies[0].Selectors = []ruleset.Selector{
		{MatchLabels: label("web"), Target: "Deployment/web"},
		{MatchLabels: label("api"), Port: 8080, Target: "Service/api/http"},
		{MatchLabels: label("api"), Port: 9090, Target: "Service/api/admin"},
		{MatchLabels: label("api"), Port: 9090, Target: "DaemonSet/node"},
		{MatchLabels: label("node"), Target: "DaemonSet/node"},
		{MatchLabels: label("silent"), Port: -1, Target: "Service/api/http"},
	}
	tests := map[string]struct {
		labels map[string]string
		port   int32
		want   []string
	}{
		"a target":                       {label("web"), 8080, []string{"all", "webs"}},
		"a port of a Service":            {label("api"), 8080, []string{"all", "apis"}},
		"another port of it":             {label("api"), 9090, []string{"all", "admins"}},
		"no port of it":                  {label("api"), 7070, nil},
		"two targets, the first counts":  {map[string]string{"web": "yes", "node": "yes"}, 8080, []string{"all", "webs"}},
		"one port, else the whole pod":   {map[string]string{"api": "yes", "node": "yes"}, 7070, []string{"all", "nodes"}},
		"the port, before the whole pod": {map[string]string{"api": "yes", "node": "yes"}, 8080, []string{"all", "apis"}},
		"a port that no pod has":         {label("silent"), 8080, nil},
		"not selected":                   {label("other"), 8080, nil},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			view := get("/")
			view.port = tc.port
			matcher := mustCompile(t, rs, tc.labels)
			var got []string
			for _, hit := range mustMatch(t, matcher, view).Hits {
				for _, limit := range hit.Limits {
					got = append(got, limit.Key)
				}
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("keys (-want +got):\n%s", diff)
			}
		})
	}
	if key := rs.Policies[0].Rules[1].Limits[0].Key; key != "none" {
		t.Errorf("the rule set was changed: key %q", key)
	}
	t.Run("without targets", func(t *testing.T) {
		t.Parallel()
		plain := rulesWith(ruleset.Rule{Name: "apart", Limits: []ruleset.Limit{apart}})
		if got := mustMatch(t, mustCompile(t, plain, nil), get("/")).Hits[0].Limits[0].Key; got != "none" {
			t.Errorf("key %q, want none", got)
		}
	})
}

func TestTiersOfATarget(t *testing.T) {
	t.Parallel()
	limit := ruleset.Limit{Name: "l", Key: "none", TargetKeys: map[string]string{"Deployment/web": "webs"}}
	policy := &ruleset.Policy{Rules: []ruleset.Rule{{Name: "all", Tiers: []ruleset.Tier{{Name: "pro", Limits: []ruleset.Limit{limit}}}}}}
	policy.Selectors = []ruleset.Selector{{Target: "Deployment/web"}}
	found := forPod(policy, nil)
	if len(found) != 1 || found[0].policy.Rules[0].Tiers[0].Limits[0].Key != "webs" || policy.Rules[0].Tiers[0].Limits[0].Key != "none" {
		t.Errorf("found %+v, want the target's key in a copy", found)
	}
}

// TestShareOfRequests draws for each request whether its rule refuses. The bounds are
// six standard deviations wide.
func TestShareOfRequests(t *testing.T) {
	t.Parallel()
	percent := 25
	matcher := mustCompile(t, rulesWith(
		ruleset.Rule{Name: "some", EnforcePercent: &percent}, ruleset.Rule{Name: "all"}, ruleset.Rule{Name: "none", Shadow: true},
	), nil)
	const requests = 10_000
	shadows := map[string]int{}
	for range requests {
		for _, hit := range mustMatch(t, matcher, get("/")).Hits {
			if hit.Shadow {
				shadows[hit.Rule.Name]++
			}
		}
	}
	if shadows["all"] != 0 || shadows["none"] != requests || shadows["some"] < 7240 || shadows["some"] > 7760 {
		t.Errorf("shadows of %d requests: %v, want 7500 of some or about that, none of all", requests, shadows)
	}
}

func TestPreflights(t *testing.T) {
	t.Parallel()
	headers := map[string][]string{"origin": {"https://a.example.com"}, "access-control-request-method": {"PUT"}}
	without := func(name string) map[string][]string {
		other := map[string][]string{}
		for known, values := range headers {
			if known != name {
				other[known] = values
			}
		}
		return other
	}
	tests := map[string]struct {
		method  string
		headers map[string][]string
		want    bool
	}{
		"a preflight":       {"OPTIONS", headers, true},
		"another method":    {"POST", headers, false},
		"method in case":    {"options", headers, false},
		"no origin":         {"OPTIONS", without("origin"), false},
		"asks for nothing":  {"OPTIONS", without("access-control-request-method"), false},
		"of several origin": {"OPTIONS", map[string][]string{"origin": {"a", "b"}, "access-control-request-method": {"PUT"}}, false},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			rs := rulesWith(ruleset.Rule{Name: "all"})
			rs.Policies[0].Response.EchoOrigin = true
			view := get("/")
			view.method, view.headers = tc.method, tc.headers
			result := mustMatch(t, mustCompile(t, rs, nil), view)
			if exempt := len(result.Exempt) == 1 && len(result.Hits) == 0; exempt != tc.want {
				t.Errorf("exempt %t, want %t: %+v", exempt, tc.want, result)
			}
		})
	}
}
