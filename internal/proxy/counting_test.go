// Copyright The Penstock Authors.
// SPDX-License-Identifier: Apache-2.0

package proxy

import (
	"context"
	"testing"

	"github.com/penstock-dev/penstock/internal/limiter"
	"github.com/penstock-dev/penstock/internal/ruleset"
)

// counting is a server whose one limit is counted for real, in memory.
type counting struct {
	*fixture
	memory *limiter.Memory
	// asked gets each check that was decided on.
	asked chan limiter.Check
}

func startCounting(t *testing.T, upstream string, policy ruleset.Policy) *counting {
	t.Helper()
	c := &counting{memory: limiter.NewMemory(nil, 0), asked: make(chan limiter.Check, 16)}
	c.fixture = start(t, upstream, rulesOf(t, policy), func(ctx context.Context, namespace string, checks []limiter.Check) (limiter.Decision, error) {
		decision, err := c.memory.Decide(ctx, namespace, checks)
		c.asked <- checks[0]
		return decision, err
	})
	return c
}

// remaining is how many requests are left to whom a check is about.
func (c *counting) remaining(t *testing.T, check limiter.Check) int64 {
	t.Helper()
	check.Cost = 0
	decision, err := c.memory.Decide(t.Context(), "shop", []limiter.Check{check})
	if err != nil {
		t.Fatal(err)
	}
	return decision.Limits[0].Remaining
}
