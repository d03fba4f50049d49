// Copyright The Penstock Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	_ "embed"
	"fmt"

	"github.com/redis/go-redis/v9"
	"github.com/redis/rueidis"
)

//go:embed gcra.lua
var gcraText string

// openGoRedis sends a script for each request, over a connection of go-redis's pool.
func openGoRedis(_ context.Context, address string) (contender, error) {
	client, names, script := newClient(address), identities(), redis.NewScript(gcraText)
	for i := range names {
		names[i] = "goredis:" + names[i]
	}
	return contender{
		name: "bare EVALSHA (go-redis)", class: bucketClass, close: func() { _ = client.Close() },
		check: func(ctx context.Context, caller int) error {
			allowed, err := script.Run(ctx, client, []string{names[caller]}, 1, 1_000_000).Int()
			if err == nil && allowed != 1 {
				return errRefused
			}
			return err
		},
	}, nil
}

// openRueidis sends the same script; rueidis sends what comes together together.
func openRueidis(_ context.Context, address string) (contender, error) {
	client, err := rueidis.NewClient(rueidis.ClientOption{InitAddress: []string{address}, DisableCache: true, ForceSingleClient: true})
	if err != nil {
		return contender{}, fmt.Errorf("connect with rueidis: %w", err)
	}
	names, script := identities(), rueidis.NewLuaScript(gcraText)
	for i := range names {
		names[i] = "rueidis:" + names[i]
	}
	return contender{
		name: "auto-pipelined EVALSHA (rueidis)", class: bucketClass, close: client.Close,
		check: func(ctx context.Context, caller int) error {
			allowed, err := script.Exec(ctx, client, []string{names[caller]}, []string{"1", "1000000"}).AsInt64()
			if err == nil && allowed != 1 {
				return errRefused
			}
			return err
		},
	}, nil
}
