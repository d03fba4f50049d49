// Copyright The Penstock Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"fmt"
	"time"

	"github.com/go-redis/redis_rate/v10"
	"github.com/redis/go-redis/v9"
	"github.com/redis/go-redis/v9/maintnotifications"
	"github.com/throttled/throttled/v2"
	throttledredis "github.com/throttled/throttled/v2/store/goredisstore.v9"
	"github.com/ulule/limiter/v3"
	ululeredis "github.com/ulule/limiter/v3/drivers/store/redis"
)

// poolSize is how many connections go-redis may open for a library: as many as gave
// the libraries their best numbers on two cores.
const poolSize = 32

// newClient returns a go-redis client as the libraries' documents show it.
func newClient(address string) *redis.Client {
	return redis.NewClient(&redis.Options{
		Addr: address, PoolSize: poolSize, PoolTimeout: patience, ReadTimeout: patience,
		MaintNotificationsConfig: &maintnotifications.Config{Mode: maintnotifications.ModeDisabled},
	})
}

func openRedisRate(_ context.Context, address string) (contender, error) {
	client, names := newClient(address), identities()
	library, limit := redis_rate.NewLimiter(client), redis_rate.PerSecond(1_000_000)
	return contender{
		name: "redis_rate v10 (GCRA)", class: bucketClass, close: func() { _ = client.Close() },
		check: func(ctx context.Context, client int) error {
			result, err := library.Allow(ctx, names[client], limit)
			if err == nil && result.Allowed != 1 {
				return errRefused
			}
			return err
		},
	}, nil
}

func openThrottled(_ context.Context, address string) (contender, error) {
	client, names := newClient(address), identities()
	store, err := throttledredis.NewCtx(client, "throttled:")
	if err != nil {
		return contender{}, fmt.Errorf("make throttled's store: %w", err)
	}
	library, err := throttled.NewGCRARateLimiterCtx(store, throttled.RateQuota{MaxRate: throttled.PerSec(1_000_000), MaxBurst: 999_999})
	if err != nil {
		return contender{}, fmt.Errorf("make throttled's limiter: %w", err)
	}
	// It compares and sets, and gives up after ten attempts if nobody says otherwise.
	library.SetMaxCASAttemptsLimit(1000)
	return contender{
		name: "throttled v2 (GCRA)", class: bucketClass, close: func() { _ = client.Close() },
		check: func(ctx context.Context, client int) error {
			refused, _, err := library.RateLimitCtx(ctx, names[client], 1)
			if err == nil && refused {
				return errRefused
			}
			return err
		},
	}, nil
}

func openUlule(_ context.Context, address string) (contender, error) {
	client, names := newClient(address), identities()
	store, err := ululeredis.NewStore(client)
	if err != nil {
		return contender{}, fmt.Errorf("make ulule's store: %w", err)
	}
	library := limiter.New(store, limiter.Rate{Period: time.Hour, Limit: 1_000_000_000})
	return contender{
		name: "ulule/limiter v3 (fixed window)", class: windowClass, close: func() { _ = client.Close() },
		check: func(ctx context.Context, client int) error {
			result, err := library.Get(ctx, names[client])
			if err == nil && result.Reached {
				return errRefused
			}
			return err
		},
	}, nil
}
