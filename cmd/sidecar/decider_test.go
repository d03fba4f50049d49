// Copyright The Penstock Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"testing"

	"github.com/penstock-dev/penstock/internal/keys"
	"github.com/penstock-dev/penstock/internal/limiter"
	"github.com/penstock-dev/penstock/internal/redisconn"
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
