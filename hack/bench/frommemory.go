// Copyright The Penstock Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"errors"
	"time"

	"github.com/penstock-dev/penstock/internal/limiter"
	"github.com/penstock-dev/penstock/internal/ruleset"
)

// errAdmitted says that a limit that is used up admitted a request.
var errAdmitted = errors.New("the request was admitted; the limit is used up")

// measureRefusal is how long it takes to refuse a request of a client that the store
// refused less than a second ago. Once a second the store is asked again.
func measureRefusal(ctx context.Context, s *server, seconds float64) (time.Duration, error) {
	connected, err := connectAnew(ctx, s)
	if err != nil {
		return 0, err
	}
	defer connected.Close()
	limit := limitOf(ruleset.TokenBucket, 1, int64(time.Hour/time.Microsecond))
	checks := []limiter.Check{checkOf(&limit, identity(0))}
	if err := admitted(connected.Decide(ctx, namespace, checks)); err != nil {
		return 0, err
	}
	return timed(seconds, func() error {
		decision, err := connected.Decide(ctx, namespace, checks)
		if err == nil && decision.Allowed {
			return errAdmitted
		}
		return err
	})
}

// measureLeased is how long a decision takes for a limit that is leased, the calls that
// take the leases included.
func measureLeased(ctx context.Context, s *server, seconds float64) (time.Duration, error) {
	connected, err := connectAnew(ctx, s)
	if err != nil {
		return 0, err
	}
	defer connected.Close()
	limit := limitOf(ruleset.TokenBucket, 1_000_000_000, int64(time.Minute/time.Microsecond))
	check := checkOf(&limit, identity(0))
	check.Leased, check.LivePods = true, 1
	return timed(seconds, func() error { return admitted(connected.Decide(ctx, namespace, []limiter.Check{check})) })
}

// connectAnew is a limiter on the server, which counts nothing yet.
func connectAnew(ctx context.Context, s *server) (*limiter.Redis, error) {
	if err := s.empty(ctx); err != nil {
		return nil, err
	}
	return connect(ctx, s.address)
}

// timed is how long a call takes, over so many seconds of calls one after the other.
func timed(seconds float64, call func() error) (time.Duration, error) {
	began, count := time.Now(), 0
	for time.Since(began).Seconds() < seconds {
		const between = 1000
		for range between {
			if err := call(); err != nil {
				return 0, err
			}
		}
		count += between
	}
	return time.Since(began) / time.Duration(count), nil
}
