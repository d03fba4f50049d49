// Copyright The Penstock Authors.
// SPDX-License-Identifier: Apache-2.0

package faults

import (
	"fmt"
	"time"

	"github.com/penstock-dev/penstock/internal/keys"
	"github.com/penstock-dev/penstock/internal/limiter"
	"github.com/penstock-dev/penstock/internal/redisconn"
	"github.com/penstock-dev/penstock/internal/ruleset"
)

const (
	// steppedRequests in steppedWindow is a limit that a test can use up.
	steppedRequests = 20
	steppedWindow   = 10 * time.Minute
)

// exhausted is how long a limit of each algorithm makes a request of cost 1 wait at
// most once it is used up.
var exhausted = map[ruleset.Algorithm]time.Duration{
	ruleset.TokenBucket:          steppedWindow / steppedRequests,
	ruleset.FixedWindow:          steppedWindow,
	ruleset.SlidingWindowLog:     steppedWindow,
	ruleset.SlidingWindowCounter: 2 * steppedWindow,
}

// askOnce asks the store about a client's limit, as a process that has remembered
// nothing.
func (s *scene) askOnce(client string, algorithm ruleset.Algorithm) limiter.Decision {
	s.t.Helper()
	settings := s.settings(s.ways[0].tap.addr)
	settings.OperationTimeout, settings.DialTimeout = patience, patience
	deciding, err := redisconn.DecidingOptions(settings)
	if err != nil {
		s.t.Fatal(err)
	}
	asking := limiter.NewRedis(deciding, keys.DefaultPrefix, patience)
	defer asking.Close()
	asking.Await(s.t.Context())
	c := counter{name: fmt.Sprint(client, algorithm), requests: steppedRequests}
	check := c.check(ruleset.FailDeny)
	check.Limit.Algorithm, check.Limit.WindowMicros = algorithm, steppedWindow.Microseconds()
	decision, err := asking.Decide(s.t.Context(), "stepped", []limiter.Check{check})
	if err != nil {
		s.t.Fatalf("ask about a %s: %v", algorithm, err)
	}
	return decision
}

// useUp sends requests until one is refused, and returns how many were admitted.
func (s *scene) useUp(client string, algorithm ruleset.Algorithm) int {
	s.t.Helper()
	for admitted := range 2*steppedRequests + 1 {
		if !s.askOnce(client, algorithm).Allowed {
			return admitted
		}
	}
	s.t.Fatalf("a %s of %d admits more than twice as many", algorithm, steppedRequests)
	return 0
}

// stepBack uses limits up and steps back. A refused request that waits as long as
// it is told must be admitted, and is told no more than an exhausted limit needs.
func stepBack(s *scene) {
	s.t.Helper()
	for algorithm := range exhausted {
		s.useUp("back", algorithm)
	}
	s.clock.step(s.t, -time.Hour)
	for algorithm, most := range exhausted {
		refused := s.askOnce("back", algorithm)
		if refused.Allowed || refused.RetryAfter > most {
			s.t.Errorf("a %s after a step back: %+v, want it refused for at most %v", algorithm, refused, most)
		}
		s.clock.step(s.t, refused.RetryAfter)
		if waited := s.askOnce("back", algorithm); !waited.Allowed {
			s.t.Errorf("a %s after the wait of %v that was told: %+v, want it admitted", algorithm, refused.RetryAfter, waited)
		}
		s.clock.step(s.t, -refused.RetryAfter)
	}
}

// stepForward uses limits up and steps forward: they are full again, once.
func stepForward(s *scene) {
	s.t.Helper()
	for algorithm := range exhausted {
		s.useUp("forward", algorithm)
	}
	s.clock.step(s.t, 24*time.Hour)
	for algorithm := range exhausted {
		if admitted := s.useUp("forward", algorithm); admitted < steppedRequests || admitted > steppedRequests+1 {
			s.t.Errorf("a %s admits %d after a step forward, want %d", algorithm, admitted, steppedRequests)
		}
	}
}

func clockFaults() map[string]fault {
	return map[string]fault{
		"clock back an hour":  {stepsClock: true, begin: stepBack, end: nothing, outcome: unharmed, deadline: patient},
		"clock forward a day": {stepsClock: true, begin: stepForward, end: nothing, outcome: unharmed, deadline: patient},
	}
}
