// Copyright The Penstock Authors.
// SPDX-License-Identifier: Apache-2.0

package proxy

import (
	"context"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/penstock-dev/penstock/internal/limiter"
	"github.com/penstock-dev/penstock/internal/ruleset"
)

// TestRulesSeeTheFieldsThatTheAppSees has a rule for each field that ends at a proxy, or
// may: it must be met exactly where the app gets the field, else a client could choose.
func TestRulesSeeTheFieldsThatTheAppSees(t *testing.T) {
	t.Parallel()
	policy := onePolicy()
	fields := []string{"connection", "keep-alive", "proxy-authorization", "proxy-connection", "te", "trailer", "transfer-encoding", "upgrade", "x-hop", "x-key"}
	policy.Rules = nil
	for _, field := range fields {
		rule := onePolicy().Rules[0]
		rule.Name = field
		rule.Matches = []ruleset.Match{{Headers: []ruleset.ValueMatch{{Name: field, Type: ruleset.ValuePresent}}}}
		policy.Rules = append(policy.Rules, rule)
	}
	met := make(chan []string, 1)
	f := start(t, startEcho(t), rulesOf(t, policy), func(ctx context.Context, namespace string, checks []limiter.Check) (limiter.Decision, error) {
		met <- rulesAsked(checks)
		return admitting(ctx, namespace, checks)
	})
	tests := map[string]struct {
		sent string
		want []string
	}{
		"WebSocket":                           {sent: "Connection: close, Upgrade\r\nUpgrade: websocket\r\n", want: []string{"connection", "upgrade"}},
		"WebSocket, spelled otherwise":        {sent: "Connection: close\r\nConnection: upgrade , x\r\nUpgrade: WebSocket\r\n", want: []string{"connection", "upgrade"}},
		"trailers accepted":                   {sent: "Connection: close\r\nTE: trailers\r\n", want: []string{"te"}},
		"trailers accepted, named":            {sent: "Connection: close, TE\r\nTE: gzip, trailers\r\n", want: []string{"te"}},
		"chunked":                             {sent: "Connection: close\r\nTransfer-Encoding: chunked\r\n", want: []string{"transfer-encoding"}},
		"chunked, named":                      {sent: "Connection: close, transfer-encoding\r\nTransfer-Encoding: chunked\r\n", want: []string{"transfer-encoding"}},
		"chunked, with a trailer":             {sent: "Connection: close\r\nTransfer-Encoding: chunked\r\nTrailer: X-Sum\r\n", want: []string{"trailer", "transfer-encoding"}},
		"a field for this hop beside another": {sent: "Connection: close, X-Hop\r\nX-Hop: 1\r\nTE: trailers\r\n", want: []string{"te"}},
		"own field":                           {sent: "Connection: close\r\nX-Hop: 1\r\nKeep-Alive: timeout=5\r\nProxy-Authorization: Basic eA==\r\nProxy-Connection: close\r\n", want: []string{"x-hop"}},
		// U+212A and U+017F are K and S to who folds case as Unicode does.
		"a field in letters that look like its name": {sent: "Connection: close, x-\u212aey\r\nX-Key: 1\r\nX-Hop: 1\r\n", want: []string{"x-hop", "x-key"}},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			body := ""
			if strings.Contains(tc.sent, "chunked") {
				body = "0\r\n\r\n"
			}
			head := forwarded(t, f, "POST / HTTP/1.1\r\nHost: a\r\n"+tc.sent+"\r\n"+body)
			if diff := cmp.Diff(tc.want, <-met); diff != "" {
				t.Errorf("rules met (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(tc.want, namesAmong(head[1:], fields)); diff != "" {
				t.Errorf("fields that the app got (-want +got):\n%s", diff)
			}
		})
	}
}

// TestRulesSeeTheHostThatTheAppSees has clients that name no host: net/http then tells
// the app its own address.
func TestRulesSeeTheHostThatTheAppSees(t *testing.T) {
	t.Parallel()
	policy := onePolicy()
	policy.Rules[0].Matches = []ruleset.Match{{Hosts: []string{"127.0.0.1"}}}
	met := make(chan []string, 1)
	f := start(t, startEcho(t), rulesOf(t, policy), func(ctx context.Context, namespace string, checks []limiter.Check) (limiter.Decision, error) {
		met <- rulesAsked(checks)
		return admitting(ctx, namespace, checks)
	})
	for _, request := range []string{"GET / HTTP/1.0\r\n\r\n", "GET / HTTP/1.1\r\nHost:\r\nConnection: close\r\n\r\n"} {
		head := forwarded(t, f, request)
		if !slices.ContainsFunc(head, func(line string) bool { return strings.HasPrefix(line, "Host: 127.0.0.1:") }) {
			t.Errorf("%q: the app got %q", request, head)
		}
		select {
		case <-met:
		default:
			t.Errorf("%q did not meet the rule of that host", request)
		}
	}
}

func rulesAsked(checks []limiter.Check) []string {
	var names []string
	for i := range checks {
		names = append(names, checks[i].Rule)
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// namesAmong are the names of header lines that are in the list, sorted and in lower case.
func namesAmong(lines, list []string) []string {
	var names []string
	for _, line := range lines {
		name, _, _ := strings.Cut(line, ":")
		if name = strings.ToLower(name); slices.Contains(list, name) {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return slices.Compact(names)
}
