// Copyright The Penstock Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"testing"

	"github.com/penstock-dev/penstock/internal/keys"
	"github.com/penstock-dev/penstock/internal/limiter"
	"github.com/penstock-dev/penstock/internal/redisconn"
	"github.com/penstock-dev/penstock/internal/ruleset"
	"github.com/penstock-dev/penstock/test/redistest"
)

// TestLostCorrectionsOnlyGrow exchanges stores under a request that each one admitted.
func TestLostCorrectionsOnlyGrow(t *testing.T) {
	t.Parallel()
	options, err := redisconn.DecidingOptions(redisconn.Settings{Addresses: []string{redistest.Start(t).Addr()}, DialTimeout: patience})
	if err != nil {
		t.Fatal(err)
	}
	check := limiter.Check{
		Kind: policyKind, Policy: "web", Rule: "all", Limit: &limited(10).Policies[0].Rules[0].Limits[0],
		Identity: "abcdefghijklmnopqrstuv", Cost: 1, Correctable: true,
	}
	decider, lost := &currentDecider{}, int64(0)
	for range mostLatest + 2 {
		connected := limiter.NewRedis(options, keys.DefaultPrefix, patience)
		connected.Await(t.Context())
		decider.use(connected)
		if got := decider.correctionsLost(); got != lost {
			t.Fatalf("%d corrections are lost after an exchange, want %d as before", got, lost)
		}
		decision, err := decider.Decide(t.Context(), namespace, []limiter.Check{check})
		if err != nil {
			t.Fatal(err)
		}
		connected.Close()
		decision.Receipt.Cancel()
		lost++
		if got := decider.correctionsLost(); got != lost {
			t.Fatalf("%d corrections are lost, want %d", got, lost)
		}
	}
}

// TestPlacesOutliveAnExchange has the password of a store change while a request is
// answered, which gives back its place in the end.
func TestPlacesOutliveAnExchange(t *testing.T) {
	t.Parallel()
	server := redistest.Start(t)
	options, err := redisconn.DecidingOptions(redisconn.Settings{Addresses: []string{server.Addr()}, DialTimeout: patience})
	if err != nil {
		t.Fatal(err)
	}
	limit := limited(1).Policies[0].Rules[0].Limits[0]
	limit.Algorithm = ruleset.Concurrency
	check := limiter.Check{
		Kind: policyKind, Policy: "web", Rule: "all", Limit: &limit, Identity: "abcdefghijklmnopqrstuv", Cost: 1,
	}
	decider := &currentDecider{}
	decide := func() limiter.Decision {
		decision, err := decider.Decide(t.Context(), namespace, []limiter.Check{check})
		if err != nil {
			t.Fatal(err)
		}
		return decision
	}
	var last *limiter.Redis
	exchange := func() {
		next := limiter.NewRedis(options, keys.DefaultPrefix, patience)
		next.Await(t.Context())
		decider.use(next)
		if last != nil {
			last.Close()
		}
		last = next
	}
	exchange()
	held := decide()
	exchange()
	exchange()
	if decide().Allowed {
		t.Error("a second request has the only place")
	}
	held.Receipt.Settle(nil)
	last.Close()
	exchange()
	defer last.Close()
	again := decide()
	if !again.Allowed || decider.correctionsLost() != 0 {
		t.Errorf("the place was not given back, %d corrections lost", decider.correctionsLost())
	}
	again.Receipt.Cancel()
}
