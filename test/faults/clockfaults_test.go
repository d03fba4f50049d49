// Copyright The Penstock Authors.
// SPDX-License-Identifier: Apache-2.0

package faults

import (
	"fmt"
	"time"

	"github.com/penstock-dev/penstock/internal/limiter"
	"github.com/penstock-dev/penstock/internal/ruleset"
)

// steppedRequests is how much the limits hold that meet a clock that steps.
const steppedRequests = 20

// stepped is how the limits of an algorithm meet a clock that steps.
type stepped struct {
	window time.Duration
	// most is how long a limit that is used up makes a request of cost 1 wait.
	most time.Duration
	// refill is in what time one request comes back; 0 if all do at once.
	refill time.Duration
}

var steppedLimits = map[ruleset.Algorithm]stepped{
	ruleset.TokenBucket:          {window: 10 * time.Minute, most: 30 * time.Second, refill: 30 * time.Second},
	ruleset.LeakyBucket:          {window: 30 * time.Second, most: 1500 * time.Millisecond, refill: 1500 * time.Millisecond},
	ruleset.FixedWindow:          {window: 10 * time.Minute, most: 10 * time.Minute},
	ruleset.SlidingWindowLog:     {window: 10 * time.Minute, most: 10 * time.Minute},
	ruleset.SlidingWindowCounter: {window: 10 * time.Minute, most: 20 * time.Minute},
	// A place is free when its holder was not heard of for half a minute.
	ruleset.Concurrency: {most: 30 * time.Second},
}

func steppedCheck(client string, algorithm ruleset.Algorithm) limiter.Check {
	check := counter{name: fmt.Sprint(client, algorithm), requests: steppedRequests}.check(ruleset.FailDeny)
	check.Limit.Algorithm, check.Limit.WindowMicros = algorithm, steppedLimits[algorithm].window.Microseconds()
	check.Settled = true
	return check
}

// asking asks the store as a process that has remembered nothing.
func (s *scene) asking(work func(ask func(limiter.Check) limiter.Decision)) {
	s.t.Helper()
	asking := s.connect()
	defer asking.Close()
	work(func(check limiter.Check) limiter.Decision {
		s.t.Helper()
		decision, err := asking.Decide(s.t.Context(), "stepped", []limiter.Check{check})
		if err != nil {
			s.t.Fatalf("ask about a %s: %v", check.Limit.Algorithm, err)
		}
		// Places stay taken while the test lasts.
		s.t.Cleanup(decision.Receipt.Cancel)
		return decision
	})
}

// askOnce asks about a limit.
func (s *scene) askOnce(check limiter.Check) (decision limiter.Decision) {
	s.t.Helper()
	s.asking(func(ask func(limiter.Check) limiter.Decision) { decision = ask(check) })
	return decision
}

// useUp sends requests until one is refused, and returns how many were admitted
// beyond what came back meanwhile.
func (s *scene) useUp(check limiter.Check) (admitted int) {
	s.t.Helper()
	s.asking(func(ask func(limiter.Check) limiter.Decision) {
		began := time.Now()
		for admitted < 3*steppedRequests && ask(check).Allowed {
			admitted++
		}
		if refill := steppedLimits[check.Limit.Algorithm].refill; refill > 0 {
			admitted -= min(int(time.Since(began)/refill)+1, max(0, admitted-steppedRequests))
		}
	})
	return admitted
}

// stepBack uses limits up and steps back. A refused request that waits as long as
// it is told must be admitted, and is told no more than an exhausted limit needs.
func stepBack(s *scene) {
	s.t.Helper()
	for algorithm := range steppedLimits {
		s.useUp(steppedCheck("back", algorithm))
	}
	s.clock.step(s.t, -time.Hour)
	for algorithm, limit := range steppedLimits {
		check := steppedCheck("back", algorithm)
		refused := s.askOnce(check)
		if refused.Allowed || refused.RetryAfter > limit.most {
			s.t.Errorf("a %s after a step back: %+v, want it refused for at most %v", algorithm, refused, limit.most)
		}
		wait := refused.RetryAfter
		if algorithm == ruleset.Concurrency {
			// Nobody can tell how long to wait.
			wait = limit.most
		}
		s.clock.step(s.t, wait)
		if waited := s.askOnce(check); !waited.Allowed {
			s.t.Errorf("a %s after the wait of %v: %+v, want it admitted", algorithm, wait, waited)
		}
		s.clock.step(s.t, -wait)
	}
}

// stepForward uses limits up and steps forward: they are unused again, once.
func stepForward(s *scene) {
	s.t.Helper()
	for algorithm := range steppedLimits {
		if admitted := s.useUp(steppedCheck("forward", algorithm)); admitted != steppedRequests {
			s.t.Errorf("a %s admits %d, want %d", algorithm, admitted, steppedRequests)
		}
	}
	s.clock.step(s.t, 24*time.Hour)
	for algorithm := range steppedLimits {
		if admitted := s.useUp(steppedCheck("forward", algorithm)); admitted != steppedRequests {
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
