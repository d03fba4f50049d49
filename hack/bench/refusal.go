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
	connected, err := connect(ctx, s.address)
	if err != nil {
		return 0, err
	}
	defer connected.Close()
	limit := limitOf(ruleset.TokenBucket, 1, int64(time.Hour/time.Microsecond))
	checks := []limiter.Check{checkOf(&limit, identity(0))}
	if err := admitted(connected.Decide(ctx, namespace, checks)); err != nil {
		return 0, err
	}
	began, count := time.Now(), 0
	for time.Since(began).Seconds() < seconds {
		const between = 1000
		for range between {
			decision, err := connected.Decide(ctx, namespace, checks)
			if err != nil {
				return 0, err
			}
			if decision.Allowed {
				return 0, errAdmitted
			}
		}
		count += between
	}
	return time.Since(began) / time.Duration(count), nil
}
