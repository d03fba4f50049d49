// Copyright The Penstock Authors.
// SPDX-License-Identifier: Apache-2.0

package store

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/penstock-dev/penstock/internal/keys"
	"github.com/penstock-dev/penstock/internal/redisconn"
)

// Open returns the store that settings lead to, on a connection of its own. It
// connects when first asked something. Close it after use.
func Open(settings redisconn.Settings) (*Store, error) {
	client, err := redisconn.New(settings)
	if err != nil {
		return nil, fmt.Errorf("open store: %w", err)
	}
	return New(client, keys.Prefix(settings.KeyPrefix)), nil
}

// Close ends the connection, also one that was given to New.
func (s *Store) Close() error { return s.client.Close() }

// Server is what a store tells about itself.
type Server struct {
	// Version is Redis' version; empty where the server does not tell.
	Version string
	// RoundTrip is how long an answer took.
	RoundTrip time.Duration
}

// Server asks the store how it is.
func (s *Store) Server(ctx context.Context) (Server, error) {
	started := time.Now()
	if err := s.client.Ping(ctx).Err(); err != nil {
		return Server{}, fmt.Errorf("ping the store: %w", err)
	}
	found := Server{RoundTrip: time.Since(started)}
	// A user without the right to INFO, or a server without it, leaves a blank.
	info, err := s.client.Info(ctx, "server").Result()
	if err != nil {
		return found, nil //nolint:nilerr // see above
	}
	for line := range strings.Lines(info) {
		if version, isVersion := strings.CutPrefix(strings.TrimSpace(line), "redis_version:"); isVersion {
			found.Version = version
		}
	}
	return found, nil
}
