// Copyright The Penstock Authors.
// SPDX-License-Identifier: Apache-2.0

package proxy

import (
	"context"
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/penstock-dev/penstock/internal/limiter"
	"github.com/penstock-dev/penstock/internal/ruleset"
)

// policyByClaim refuses who has no verified token of a provider of this name.
func policyByClaim(provider string) ruleset.Policy {
	policy := onePolicy()
	policy.JWT = []ruleset.JWTProvider{{
		Name: provider, Issuer: "https://id.example.com", Headers: []string{"authorization"},
		JWKS: `{"keys":[{"kty":"OKP","crv":"Ed25519","x":"11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo"}]}`,
	}}
	policy.Rules[0].Key = []ruleset.KeyPart{{
		Name: "client", OnMissing: ruleset.MissingDeny, From: []ruleset.KeySource{{Kind: ruleset.SourceJWTClaim, Name: "sub"}},
	}}
	return policy
}

// TestRefusalForAnUnverifiedToken tells why in the log and in metrics, and nothing of the
// token anywhere.
func TestRefusalForAnUnverifiedToken(t *testing.T) {
	t.Parallel()
	policy := policyByClaim("idp")
	never := func(context.Context, string, []limiter.Check) (limiter.Decision, error) {
		t.Error("a request without key was counted")
		return limiter.Decision{}, nil
	}
	f := startBare(t, refuseApp(t), never, Options{RefusalLogsPerSecond: 10})
	f.server.SetRules(rulesOf(t, policy))
	const secret = "opaque-7c1f"
	response, body := send(t, http.MethodGet, f.url, http.Header{"Authorization": {"Bearer " + secret}}, nil)
	checkProblem(t, response, body, http.StatusTooManyRequests,
		`Rule "web/all" counts requests by claim sub, and this request has no verified token with claim "sub".`)
	response, without := send(t, http.MethodGet, f.url, nil, nil)
	checkProblem(t, response, without, http.StatusTooManyRequests, "and this request has none.")
	counted := func() map[string]float64 {
		counts := make(map[string]float64)
		if err := eachSeries(f.server.metrics.unverified, func(labels map[string]string, value float64) {
			counts[labels["policy"]+" "+labels["provider"]+" "+labels["reason"]] = value
		}); err != nil {
			t.Fatal(err)
		}
		return counts
	}
	if diff := cmp.Diff(map[string]float64{"web idp malformed": 1}, counted()); diff != "" {
		t.Errorf("unverified tokens (-want +got):\n%s", diff)
	}
	f.server.SetRules(rulesOf(t, policyByClaim("idp"), onePolicy()))
	if len(counted()) != 1 {
		t.Error("the series of a provider that stays is gone")
	}
	f.server.SetRules(rulesOf(t, policyByClaim("renamed")))
	if diff := cmp.Diff(map[string]float64{}, counted()); diff != "" {
		t.Errorf("once the provider is gone (-want +got):\n%s", diff)
	}
	heaviest := f.server.observing.heaviest.list()
	if len(heaviest) != 1 || heaviest[0].count != 2 {
		t.Errorf("the heaviest are %+v, want both requests in one entry", heaviest)
	}
	if err := f.stop(); err != nil {
		t.Fatal(err)
	}
	if strings.Contains(body+f.logs.String(), secret) {
		t.Errorf("the token is told:\n%s\n%s", body, f.logs)
	}
	logged := lines(t, f.logs)
	if len(logged) != 2 {
		t.Fatalf("%d lines were logged, want 2", len(logged))
	}
	for _, field := range []string{"lacks", "provider", "reason"} {
		if value, told := logged[1][field]; told {
			t.Errorf("without a token %s is %v", field, value)
		}
	}
	got := map[string]any{"lacks": logged[0]["lacks"], "provider": logged[0]["provider"], "reason": logged[0]["reason"]}
	want := map[string]any{"lacks": `no verified token with claim "sub"`, "provider": "idp", "reason": "malformed"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("the refusal's line (-want +got):\n%s", diff)
	}
}
