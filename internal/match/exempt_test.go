// Copyright The Penstock Authors.
// SPDX-License-Identifier: Apache-2.0

package match

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"net/netip"
	"strings"
	"testing"

	"github.com/penstock-dev/penstock/internal/ruleset"
)

// rulesBehindProxies are rules of a policy that believes X-Forwarded-For from 10.0.0.0/8.
func rulesBehindProxies() *ruleset.RuleSet {
	rs := rulesWith(ruleset.Rule{Name: "all"})
	rs.Policies[0].ClientIP = ruleset.ClientIP{Header: "x-forwarded-for", TrustedHops: 1, TrustedCIDRs: []string{"10.0.0.0/8"}, IPv6PrefixLength: 64}
	return rs
}

func secret(name, value string) ruleset.ExemptHeader {
	sum := sha256.Sum256([]byte(value))
	return ruleset.ExemptHeader{Name: name, SHA256: hex.EncodeToString(sum[:])}
}

func TestExemptions(t *testing.T) {
	t.Parallel()
	token := func(values ...string) *fakeView { return withHeaders(map[string][]string{"x-token": values}) }
	forwarded := func(peer, client string) *fakeView {
		view := fromPeer(peer)
		view.headers = map[string][]string{"x-forwarded-for": {client}}
		return view
	}
	cidrs := func(cidrs ...string) ruleset.Exempt { return ruleset.Exempt{CIDRs: cidrs} }
	path := func(kind ruleset.PathMatchType, value string) ruleset.Exempt {
		return ruleset.Exempt{Paths: []ruleset.PathMatch{{Type: kind, Value: value}}}
	}
	tokens := ruleset.Exempt{Headers: []ruleset.ExemptHeader{secret("x-token", "old"), secret("x-other", "a"), secret("x-token", "new")}}
	tests := map[string]struct {
		exempt ruleset.Exempt
		view   *fakeView
		want   bool
	}{
		"nothing":                              {ruleset.Exempt{}, get("/"), false},
		"address":                              {cidrs("203.0.113.0/24"), fromPeer("203.0.113.7"), true},
		"address of the second range":          {cidrs("192.0.2.0/24", "203.0.113.7/32"), fromPeer("203.0.113.7"), true},
		"address beside the range":             {cidrs("203.0.113.8/29"), fromPeer("203.0.113.7"), false},
		"IPv4-mapped address":                  {cidrs("203.0.113.0/24"), fromPeer("::ffff:203.0.113.7"), true},
		"NAT64 address":                        {cidrs("203.0.113.0/24"), fromPeer("64:ff9b::203.0.113.7"), true},
		"IPv6 address":                         {cidrs("2001:db8::/32"), fromPeer("2001:db8::1"), true},
		"one IPv6 address, not its network":    {cidrs("2001:db8::1/128"), fromPeer("2001:db8::2"), false},
		"one IPv6 address":                     {cidrs("2001:db8::1/128"), fromPeer("2001:db8::1%eth0"), true},
		"all of IPv4 is not all of IPv6":       {cidrs("0.0.0.0/0"), fromPeer("2001:db8::1"), false},
		"client that a trusted peer tells":     {cidrs("203.0.113.0/24"), forwarded("10.0.0.9", "203.0.113.7"), true},
		"client that another peer tells":       {cidrs("203.0.113.0/24"), forwarded("192.0.2.9", "203.0.113.7"), false},
		"peer that tells another client":       {cidrs("10.0.0.0/8"), forwarded("10.0.0.9", "203.0.113.7"), false},
		"exact path":                           {path(ruleset.PathExact, "/healthz"), get("/healthz"), true},
		"exact path with query":                {path(ruleset.PathExact, "/healthz"), get("/healthz?full=1"), true},
		"exact path in absolute form":          {path(ruleset.PathExact, "/healthz"), get("http://h/healthz"), true},
		"below an exact path":                  {path(ruleset.PathExact, "/healthz"), get("/healthz/x"), false},
		"prefix":                               {path(ruleset.PathPrefix, "/health"), get("/health/x"), true},
		"prefix is of segments":                {path(ruleset.PathPrefix, "/health"), get("/healthz"), false},
		"template":                             {path(ruleset.PathTemplate, "/{pod}/healthz"), get("/a/healthz"), true},
		"expression":                           {path(ruleset.PathRegularExpression, "/health(z|y)"), get("/healthz"), true},
		"expression, other path":               {path(ruleset.PathRegularExpression, "/health(z|y)"), get("/healthz/x"), false},
		"expression, path too long to look at": {path(ruleset.PathRegularExpression, "/health/.*x"), get("/health/" + strings.Repeat("a", 1<<17)), false},
		"path in upper case":                   {path(ruleset.PathExact, "/healthz"), get("/Healthz"), false},
		"path with a slash behind":             {path(ruleset.PathExact, "/healthz"), get("/healthz/"), false},
		"path with an escape":                  {path(ruleset.PathExact, "/healthz"), get("/%68ealthz"), false},
		"path with parameters":                 {path(ruleset.PathExact, "/healthz"), get("/healthz;/../admin"), false},
		"path that leaves the exempt one":      {path(ruleset.PathPrefix, "/health"), get("/health/../admin"), false},
		"path that leaves it by escaped dots":  {path(ruleset.PathPrefix, "/health"), get("/health/%2e%2e/admin"), false},
		"path that leaves it by escaped slash": {path(ruleset.PathPrefix, "/health"), get("/health/..%2fadmin"), false},
		"path that leaves it by backslash":     {path(ruleset.PathPrefix, "/health"), get("/health\\..\\admin"), false},
		"path with a doubled slash":            {path(ruleset.PathPrefix, "/health"), get("/health//x"), false},
		"path without reading":                 {path(ruleset.PathPrefix, "/health"), get("/health/%zz"), false},
		"asterisk":                             {path(ruleset.PathExact, "/healthz"), get("*"), false},
		"secret":                               {tokens, token("new"), true},
		"secret before the change":             {tokens, token("old"), true},
		"another value":                        {tokens, token("other"), false},
		"empty value":                          {tokens, token(""), false},
		"no header":                            {tokens, get("/"), false},
		"two values":                           {tokens, token("new", "other"), false},
		"one secret twice":                     {tokens, token("new", "new"), false},
		"secret of another header":             {tokens, token("a"), false},
		"the hash is no secret":                {tokens, token(secret("x-token", "new").SHA256), false},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			rs := rulesBehindProxies()
			rs.Policies[0].Exempt = &tc.exempt
			result := mustMatch(t, mustCompile(t, rs, nil), tc.view)
			if got := len(result.Exempt) == 1 && len(result.Hits) == 0; got != tc.want {
				t.Errorf("exempt %t, hits %q; want exempt %t", got, hitNames(result), tc.want)
			}
		})
	}
}

// TestAnExemptionIsOfItsOwnPolicy and not of another that selects the same pod.
func TestAnExemptionIsOfItsOwnPolicy(t *testing.T) {
	t.Parallel()
	rs := rulesBehindProxies()
	floor := rs.Policies[0]
	floor.Name, floor.Rules = "floor", []ruleset.Rule{{Name: "floor"}}
	rs.Policies[0].Exempt = &ruleset.Exempt{CIDRs: []string{"0.0.0.0/0"}}
	rs.Policies = append(rs.Policies, floor)
	result := mustMatch(t, mustCompile(t, rs, nil), get("/"))
	if hitNames(result) != "floor" || len(result.Exempt) != 1 || result.Exempt[0].Name != "web" {
		t.Errorf("hits %q, exempt %v; want the floor, and web exempt", hitNames(result), result.Exempt)
	}
}

// TestBadPathsAndExemptions says who is refused for a path without reading.
func TestBadPathsAndExemptions(t *testing.T) {
	t.Parallel()
	health := []ruleset.PathMatch{{Type: ruleset.PathExact, Value: "/healthz"}}
	login := []ruleset.Match{{Path: &ruleset.PathMatch{Type: ruleset.PathExact, Value: "/login"}}}
	tests := map[string]struct {
		exempt  ruleset.Exempt
		matches []ruleset.Match
		wantErr bool
	}{
		"exempt by address":           {exempt: ruleset.Exempt{CIDRs: []string{"203.0.113.7/32"}}, matches: login},
		"not exempt":                  {exempt: ruleset.Exempt{CIDRs: []string{"192.0.2.7/32"}}, matches: login, wantErr: true},
		"only an exempt path":         {exempt: ruleset.Exempt{Paths: health}},
		"an exempt path and a rule's": {exempt: ruleset.Exempt{Paths: health}, matches: login, wantErr: true},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			rs := rulesWith(ruleset.Rule{Name: "r", Matches: tc.matches})
			rs.Policies[0].Exempt = &tc.exempt
			_, err := mustCompile(t, rs, nil).Match(get("/healthz/%zz"))
			if (err != nil) != tc.wantErr {
				t.Errorf("error %v, want one: %t", err, tc.wantErr)
			}
		})
	}
}

func BenchmarkExempt(b *testing.B) {
	rs := rulesBehindProxies()
	exempt := &ruleset.Exempt{}
	for i := range 256 {
		exempt.CIDRs = append(exempt.CIDRs, netip.PrefixFrom(netip.AddrFrom4([4]byte{198, 18, byte(i), 0}), 24).String())
	}
	for i := range 32 {
		exempt.Headers = append(exempt.Headers, secret("x-token", fmt.Sprint(i)))
		exempt.Paths = append(exempt.Paths, ruleset.PathMatch{Type: ruleset.PathExact, Value: fmt.Sprintf("/healthz%d", i)})
	}
	rs.Policies[0].Exempt = exempt
	m := mustCompile(b, rs, nil)
	view := withHeaders(map[string][]string{"x-token": {"other"}})
	b.ReportAllocs()
	for b.Loop() {
		if result, err := m.Match(view); err != nil || len(result.Hits) != 1 {
			b.Fatal(result, err)
		}
	}
}
