// Copyright The Penstock Authors.
// SPDX-License-Identifier: Apache-2.0

package controllers

import (
	"crypto/rand"
	"encoding/hex"
	"testing"

	"github.com/penstock-dev/penstock/internal/compile"
	"github.com/penstock-dev/penstock/internal/keys"
	"github.com/penstock-dev/penstock/internal/ruleset"
	"github.com/penstock-dev/penstock/internal/store"
	"github.com/penstock-dev/penstock/test/redistest"
)

func TestRuleSetThatDoesNotFitKeepsTheLastOne(t *testing.T) {
	t.Parallel()
	redis := redistest.Start(t)
	live := &liveStore{Store: store.New(redis.Client(t), keys.DefaultPrefix)}
	fits := &ruleset.RuleSet{Format: ruleset.Format, Namespace: "shop", Policies: []ruleset.Policy{
		{Kind: compile.KindRateLimitPolicy, Name: "web", Generation: 1, Revision: "small"},
	}}
	noise := make([]byte, 2*ruleset.MaxEncodedBytes)
	if _, err := rand.Read(noise); err != nil {
		t.Fatal(err)
	}
	tooLarge := &ruleset.RuleSet{Format: ruleset.Format, Namespace: "shop", Policies: []ruleset.Policy{
		{Kind: compile.KindRateLimitPolicy, Name: hex.EncodeToString(noise), Generation: 2, Revision: "large"},
	}}
	m := newMemories().of("shop")
	for _, rs := range []*ruleset.RuleSet{fits, tooLarge} {
		if _, err := publish(t.Context(), live, m, rs); err != nil {
			t.Fatal(err)
		}
	}
	if m.published != fits || m.tooLarge == nil {
		t.Errorf("published is %p with error %v, want the one that fits (%p) and an error", m.published, m.tooLarge, fits)
	}
	// Also while it does not fit, the last one is kept from vanishing.
	if err := live.Withdraw(t.Context(), "shop"); err != nil {
		t.Fatal(err)
	}
	if _, err := publish(t.Context(), live, m, tooLarge); err != nil {
		t.Fatal(err)
	}
	head, err := live.Head(t.Context(), "shop")
	if err != nil || head.Sequence == 0 {
		t.Errorf("head is %+v with error %v, want the last rule set back", head, err)
	}
	if _, err := publish(t.Context(), live, m, fits); err != nil || m.tooLarge != nil {
		t.Errorf("publishing one that fits gave %v and left %v", err, m.tooLarge)
	}
}
