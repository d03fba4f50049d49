// Copyright The Penstock Authors.
// SPDX-License-Identifier: Apache-2.0

package proxy

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/penstock-dev/penstock/internal/ruleset"
)

// policyByClient is onePolicy under a name, counted by the client's address.
func policyByClient(name string) ruleset.Policy {
	policy := onePolicy()
	policy.Name = name
	policy.Rules[0].Key = []ruleset.KeyPart{{Name: "client", OnMissing: ruleset.MissingShare, From: []ruleset.KeySource{{Kind: ruleset.SourceClientIP}}}}
	return policy
}

func behindProxies(policy ruleset.Policy) ruleset.Policy {
	policy.ClientIP = ruleset.ClientIP{Header: "x-forwarded-for", TrustedHops: 1, TrustedCIDRs: []string{"127.0.0.0/8"}}
	return policy
}

// seenBy is what a server says of a policy of which a proxy was seen.
func seenBy(policy, field string) PeerIsProxy {
	return PeerIsProxy{Policy: PolicyID{Kind: "RateLimitPolicy", Name: policy}, Field: field}
}

func TestProxiesAreSeenByPoliciesThatCountByThePeer(t *testing.T) {
	t.Parallel()
	web, orders, behind, all := policyByClient("web"), policyByClient("orders"), behindProxies(policyByClient("behind")), onePolicy()
	orders.Rules[0].Matches = []ruleset.Match{{Path: &ruleset.PathMatch{Type: ruleset.PathPrefix, Value: "/orders"}}}
	all.Name = "all"
	f := start(t, startApp(t, okApp), rulesOf(t, all, behind, orders, web), admitting)
	send := func(fields string) {
		t.Helper()
		if answer := f.exchange(t, "GET / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n"+fields+"\r\n"); !strings.HasPrefix(answer, "HTTP/1.1 200") {
			t.Fatalf("the answer is %q, want 200", answer)
		}
	}
	for _, harmless := range []string{"", "X-Real-Address: 203.0.113.7\r\n", "Via: 1.1 a\r\n"} {
		send(harmless)
		if got := f.server.PeerIsProxy(); len(got) > 0 {
			t.Errorf("after a request with %q a proxy was seen: %v", harmless, got)
		}
	}
	for range 3 {
		send("x-real-ip: 203.0.113.7\r\n")
	}
	send("X-Forwarded-For: 203.0.113.7\r\n")
	if diff := cmp.Diff([]PeerIsProxy{seenBy("web", "X-Real-Ip")}, f.server.PeerIsProxy()); diff != "" {
		t.Errorf("policies that saw a proxy (-want +got):\n%s", diff)
	}

	// Other rules keep what was seen; those that believe the proxy do not.
	f.server.SetRules(rulesOf(t, web, all))
	if diff := cmp.Diff([]PeerIsProxy{seenBy("web", "X-Real-Ip")}, f.server.PeerIsProxy()); diff != "" {
		t.Errorf("after an edit of another policy (-want +got):\n%s", diff)
	}
	f.server.SetRules(rulesOf(t, behindProxies(web), all))
	if got := f.server.PeerIsProxy(); len(got) > 0 {
		t.Errorf("a proxy that is believed is told of: %v", got)
	}
	if err := f.stop(); err != nil {
		t.Fatal(err)
	}
	if got := strings.Count(f.logs.String(), "Requests come through a proxy"); got != 1 || strings.Contains(f.logs.String(), "203.0.113.7") {
		t.Errorf("the log tells of it %d times, want once and no address:\n%s", got, f.logs)
	}
}

func TestProxyFieldOf(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		peer, header string
		want         string
	}{
		"private":                    {"10.1.2.3:4567", "X-Forwarded-For", "X-Forwarded-For"},
		"private, 172.16/12":         {"172.31.0.1:4567", "Forwarded", "Forwarded"},
		"private, 192.168/16":        {"192.168.0.1:4567", "X-Real-IP", "X-Real-Ip"},
		"carrier-grade":              {"100.64.0.1:4567", "X-Forwarded-Proto", "X-Forwarded-Proto"},
		"loopback":                   {"127.0.0.1:4567", "X-Forwarded-Host", "X-Forwarded-Host"},
		"IPv6 loopback":              {"[::1]:4567", "X-Forwarded-For", "X-Forwarded-For"},
		"link-local":                 {"[fe80::1%eth0]:4567", "X-Forwarded-For", "X-Forwarded-For"},
		"unique local":               {"[fd00::1]:4567", "X-Forwarded-For", "X-Forwarded-For"},
		"IPv4-mapped":                {"[::ffff:10.0.0.1]:4567", "X-Forwarded-For", "X-Forwarded-For"},
		"public":                     {"203.0.113.7:4567", "X-Forwarded-For", ""},
		"public beside 172.16/12":    {"172.32.0.1:4567", "X-Forwarded-For", ""},
		"public, beside 100.64/10":   {"100.128.0.1:4567", "X-Forwarded-For", ""},
		"public IPv6":                {"[2001:db8::1]:4567", "X-Forwarded-For", ""},
		"no IP address":              {"@", "X-Forwarded-For", ""},
		"private, but no such field": {"10.1.2.3:4567", "X-Forwarded", ""},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			request := &http.Request{RemoteAddr: tc.peer, Header: http.Header{}}
			request.Header.Set(tc.header, "203.0.113.9")
			got := ""
			if field := proxyFieldOf(request); field != nil {
				got = *field
			}
			if got != tc.want {
				t.Errorf("the field is %q, want %q", got, tc.want)
			}
		})
	}
}

func TestSightingsEndAnHourAfterTheLast(t *testing.T) {
	t.Parallel()
	noon := time.Date(2026, 1, 2, 12, 0, 0, 0, time.UTC)
	s := newPeerSightings(rulesOf(t, policyByClient("web")).Matcher, nil)
	of := s.ordered[0]
	told := func(after time.Duration) string { return fmt.Sprint(len(s.told(noon.Add(after)))) }
	if !of.note(&proxyFields[0], noon) || of.note(&proxyFields[1], noon.Add(30*time.Second)) {
		t.Error("of two sightings within a minute both are new, or none")
	}
	s.settled.Store(true)
	if got := told(59 * time.Second); got != "1" || !s.settled.Load() {
		t.Errorf("after 59 s %s are told of, settled is %v, want 1 and true", got, s.settled.Load())
	}
	if got := told(sightingEvery); got != "1" || s.settled.Load() {
		t.Errorf("after a minute %s are told of, settled is %v, want 1 and false", got, s.settled.Load())
	}
	if of.note(&proxyFields[1], noon.Add(30*time.Minute)) {
		t.Error("a sighting after half an hour is new")
	}
	if got := told(30*time.Minute + sightingLife - 1); got != "1" {
		t.Errorf("just before the hour is over %s are told of, want 1", got)
	}
	if got := told(30*time.Minute + sightingLife); got != "0" {
		t.Errorf("after an hour %s are told of, want 0", got)
	}
	if !of.note(&proxyFields[1], noon.Add(2*time.Hour)) || *of.field.Load() != proxyFields[1] {
		t.Error("a sighting after more than an hour is not new, or another field is not told of")
	}
}

func TestSightingsAreBounded(t *testing.T) {
	t.Parallel()
	var policies []ruleset.Policy
	for i := range maxSightings + 5 {
		policies = append(policies, policyByClient(fmt.Sprintf("web-%03d", i)))
	}
	if got := len(newPeerSightings(rulesOf(t, policies...).Matcher, nil).ordered); got != maxSightings {
		t.Errorf("%d policies are watched, want %d", got, maxSightings)
	}
	if s := newPeerSightings(rulesOf(t, onePolicy()).Matcher, nil); s != nil {
		t.Error("a rule set is watched for proxies though nothing of it asks for the peer")
	}
}
