// Copyright The Penstock Authors.
// SPDX-License-Identifier: Apache-2.0

package embedded_test

import (
	"context"
	"errors"
	"net"
	"strings"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/penstock-dev/penstock/internal/embedded"
)

func start(t *testing.T) (*embedded.Store, *redis.Client) {
	t.Helper()
	store, err := embedded.Start("127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(store.Close)
	client := redis.NewClient(&redis.Options{Addr: store.Addr(), Protocol: 2})
	t.Cleanup(func() { _ = client.Close() })
	return store, client
}

func TestClockIsTheRealTime(t *testing.T) {
	t.Parallel()
	_, client := start(t)
	before := time.Now()
	got, err := client.Time(t.Context()).Result()
	if err != nil || got.Before(before.Truncate(time.Microsecond)) || got.After(time.Now()) {
		t.Errorf("TIME is %v, %v, want between %v and now", got, err, before)
	}
}

func TestKeysExpireByThemselves(t *testing.T) {
	t.Parallel()
	_, client := start(t)
	if err := client.Set(t.Context(), "key", "value", 30*time.Millisecond).Err(); err != nil {
		t.Fatal(err)
	}
	if value, err := client.Get(t.Context(), "key").Result(); err != nil || value != "value" {
		t.Fatalf("get = %q, %v, want value", value, err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
	defer cancel()
	for ctx.Err() == nil {
		if errors.Is(client.Get(ctx, "key").Err(), redis.Nil) {
			return
		}
	}
	t.Error("a key of 30 ms was still there after 10 s")
}

func TestStartNamesATakenAddress(t *testing.T) {
	t.Parallel()
	store, _ := start(t)
	if _, err := embedded.Start(store.Addr()); err == nil || !strings.Contains(err.Error(), store.Addr()) {
		t.Errorf("a second start on %s: error %v, want one with the address", store.Addr(), err)
	}
}

func TestCloseFreesTheAddress(t *testing.T) {
	t.Parallel()
	store, err := embedded.Start("127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	store.Close()
	if connection, err := net.Dial("tcp", store.Addr()); err == nil {
		_ = connection.Close()
		t.Error("a closed store still accepts connections")
	}
}
