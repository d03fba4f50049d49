// Copyright The Penstock Authors.
// SPDX-License-Identifier: Apache-2.0

package match

import (
	"testing"

	"github.com/penstock-dev/penstock/internal/ruleset"
)

func TestPeerAskers(t *testing.T) {
	t.Parallel()
	const local = "request.clientIP == '192.0.2.7'"
	byClient := []ruleset.KeyPart{keyFrom(ruleset.SourceClientIP, "")}
	fallback := []ruleset.KeyPart{{Name: "who", OnMissing: ruleset.MissingShare, From: []ruleset.KeySource{
		{Kind: ruleset.SourceHeader, Name: "x-key"}, {Kind: ruleset.SourceClientIP},
	}}}
	limit := []ruleset.Limit{{Name: "minute", Requests: 1, Burst: 1, WindowMicros: 60_000_000}}
	tests := map[string]struct {
		rule   ruleset.Rule
		exempt *ruleset.Exempt
		// client is the policy's clientIP.
		client ruleset.ClientIP
		// wantPolicy is whether the policy asks for the peer, wantRequest whether it
		// does of a request to /.
		wantPolicy, wantRequest bool
	}{
		"all together":                  {rule: ruleset.Rule{}},
		"counted by client":             {rule: ruleset.Rule{Key: byClient}, wantPolicy: true, wantRequest: true},
		"counted by client as fallback": {rule: ruleset.Rule{Key: fallback}, wantPolicy: true, wantRequest: true},
		"counted by header":             {rule: ruleset.Rule{Key: fallback[:0:0]}},
		"behind proxies": {
			rule:   ruleset.Rule{Key: byClient},
			client: ruleset.ClientIP{Header: "x-forwarded-for", TrustedHops: 1, TrustedCIDRs: []string{"10.0.0.0/8"}},
		},
		"other requests counted by client": {
			rule:       ruleset.Rule{Key: byClient, Matches: []ruleset.Match{{Methods: []string{"PUT"}}}},
			wantPolicy: true,
		},
		"when":           {rule: ruleset.Rule{When: []string{"request.clientIP != ''"}}, wantPolicy: true, wantRequest: true},
		"when it cannot": {rule: ruleset.Rule{When: []string{local}}, wantPolicy: true},
		"tier":           {rule: ruleset.Rule{Tiers: []ruleset.Tier{{Name: "local", When: local, Limits: limit}}}, wantPolicy: true, wantRequest: true},
		"exempt range":   {exempt: &ruleset.Exempt{CIDRs: []string{"198.51.100.0/24"}}, wantPolicy: true, wantRequest: true},
		"exempt itself":  {exempt: &ruleset.Exempt{CIDRs: []string{"203.0.113.0/24"}}, wantPolicy: true, wantRequest: true},
		"exempt when":    {exempt: &ruleset.Exempt{When: []string{local}}, wantPolicy: true, wantRequest: true},
		"exempt path":    {exempt: &ruleset.Exempt{Paths: []ruleset.PathMatch{{Type: ruleset.PathExact, Value: "/"}}}},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			tc.rule.Name = "all"
			rs := rulesWith(tc.rule)
			rs.Policies[0].ClientIP, rs.Policies[0].Exempt = tc.client, tc.exempt
			m := mustCompile(t, rs, nil)
			if got := len(m.PeerAskers()) > 0; got != tc.wantPolicy {
				t.Errorf("the policy asks for the peer: %v, want %v", got, tc.wantPolicy)
			}
			view := fromPeer("203.0.113.7")
			result := mustMatch(t, m, view)
			asked := false
			for policy := range m.PeerAskersOf(&result) {
				asked = true
				if policy.Name != rs.Policies[0].Name {
					t.Errorf("policy %q asks, want %q", policy.Name, rs.Policies[0].Name)
				}
			}
			if asked != tc.wantRequest {
				t.Errorf("the policy asks for the peer of the request: %v, want %v", asked, tc.wantRequest)
			}
		})
	}
}
