// Copyright The Penstock Authors.
// SPDX-License-Identifier: Apache-2.0

package proxy

import (
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/penstock-dev/penstock/internal/ruleset"
)

// TestFailedExpressionsAreLogged names the expression, and tells nothing of the request.
func TestFailedExpressionsAreLogged(t *testing.T) {
	t.Parallel()
	const fails = "int(request.headers['x-n']) > 0"
	ofRule, ofExemption := onePolicy(), onePolicy()
	ofRule.Rules[0].When = []string{"request.method == 'GET'", fails}
	ofExemption.Exempt = &ruleset.Exempt{When: []string{fails}}
	for name, tc := range map[string]struct {
		policy      ruleset.Policy
		rule, field string
	}{
		"rule": {ofRule, "all", "when[1]"}, "exemption": {ofExemption, "", "exempt.when[0]"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := start(t, startEcho(t), rulesOf(t, tc.policy), admitting)
			for range 5 {
				send(t, http.MethodGet, f.url, http.Header{"X-N": {"SECRET"}}, nil)
			}
			if err := f.stop(); err != nil {
				t.Fatal(err)
			}
			if strings.Contains(f.logs.String(), "SECRET") {
				t.Errorf("the log tells what it must not:\n%s", f.logs)
			}
			got := lines(t, f.logs)
			if len(got) == 0 || len(got) == 5 {
				t.Fatalf("%d lines were logged, want one for each second", len(got))
			}
			want := map[string]any{
				"level": "WARN", "msg": "An expression gave no value for a request: have it ask first whether what it reads is there, and of the kind that it wants",
				"policy": "web", "rule": tc.rule, "field": tc.field, "reason": "conversion",
			}
			if diff := cmp.Diff(want, got[0]); diff != "" {
				t.Errorf("line (-want +got):\n%s", diff)
			}
		})
	}
}

// TestNoFailedExpressionHidesAnother has two that fail for every request.
func TestNoFailedExpressionHidesAnother(t *testing.T) {
	t.Parallel()
	policy := onePolicy()
	policy.Rules[0].When = []string{"int(request.method) > 0", "int(request.host) > 0"}
	f := startBare(t, startEcho(t), admitting, Options{})
	f.server.expressionLog.perSecond, f.server.expressionLog.tokens = 64, 64
	f.server.SetRules(rulesOf(t, policy))
	for range 64 {
		send(t, http.MethodGet, f.url, nil, nil)
	}
	if err := f.stop(); err != nil {
		t.Fatal(err)
	}
	for _, field := range []string{"when[0]", "when[1]"} {
		if !strings.Contains(f.logs.String(), field) {
			t.Errorf("%s is never told of", field)
		}
	}
}
