// Copyright The Penstock Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"maps"
	"net/http"
	"testing"

	"github.com/penstock-dev/penstock/internal/ruleset"
	"github.com/penstock-dev/penstock/internal/store"
)

// TestSidecarTellsOfAProxy has a policy count by the peer, which is a proxy: the operator
// hears of it at once, and no more when the policy believes the proxy.
func TestSidecarTellsOfAProxy(t *testing.T) {
	t.Parallel()
	server, rules := newStore(t)
	p := newPod(t).mount(t, settingsOf(server))
	byClient := limited(100)
	byClient.Policies[0].Rules[0].Key = []ruleset.KeyPart{{Name: "client", OnMissing: ruleset.MissingShare, From: []ruleset.KeySource{{Kind: ruleset.SourceClientIP}}}}
	publish(t, rules, byClient)
	p.start(t).awaitReady(t)
	request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "http://"+p.address(listenPort)+"/", nil)
	if err != nil {
		t.Fatal(err)
	}
	request.Header.Set("X-Forwarded-For", "203.0.113.7")
	client := http.Client{Timeout: patience, Transport: &http.Transport{DisableKeepAlives: true}}
	answer, err := client.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	_ = answer.Body.Close()
	policy := &byClient.Policies[0]
	want := map[string]string{store.PolicyKey(policy.Kind, policy.Name): "X-Forwarded-For"}
	p.awaitAck(t, rules, func(ack store.Ack) bool { return maps.Equal(ack.PeerIsProxy, want) })

	policy.ClientIP = ruleset.ClientIP{Header: "x-forwarded-for", TrustedHops: 1, TrustedCIDRs: []string{"127.0.0.0/8"}}
	published := publish(t, rules, byClient)
	p.awaitAck(t, rules, func(ack store.Ack) bool { return ack.Sequence == published.Sequence && ack.PeerIsProxy == nil })
}
