// Copyright The Penstock Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"cmp"
	"context"
	"errors"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/penstock-dev/penstock/internal/keys"
	"github.com/penstock-dev/penstock/internal/limiter"
	"github.com/penstock-dev/penstock/internal/redisconn"
	"github.com/penstock-dev/penstock/internal/store"
)

// retireAfter is how long a replaced client still serves decisions under way.
const retireAfter = time.Second

// storeLink is the connection to the store: decisions, rules and acks. It is made
// anew when the settings change. Its methods are called by one goroutine.
type storeLink struct {
	inForce *store.InForce
	acker   *store.Acker
	decider *currentDecider
	log     *slog.Logger

	// used is what kind of store is used; nil where none is known yet.
	used atomic.Pointer[string]

	stop    context.CancelFunc
	running sync.WaitGroup
}

// connect goes over to a store. With an error the former one stays.
func (l *storeLink) connect(ctx context.Context, settings redisconn.Settings) error {
	publishing, err := redisconn.New(settings)
	if err != nil {
		return err
	}
	connected, err := limiter.Connect(settings)
	if err != nil {
		return errors.Join(err, publishing.Close())
	}
	// The first request after readiness, and after a change of stores, is to find a
	// connection. A store that cannot be reached holds nobody up for long.
	connected.Await(ctx)
	l.decider.use(connected)
	l.used.Store(new("Redis, " + cmp.Or(settings.Mode, redisconn.Standalone)))
	if l.stop != nil {
		l.stop()
	}
	linked, stop := context.WithCancel(ctx)
	l.stop = stop
	rules := store.New(publishing, keys.Prefix(settings.KeyPrefix))
	var following sync.WaitGroup
	following.Go(func() {
		rules.Watch(linked, l.inForce, store.WatchOptions{Report: reporter(l.log, "Rules cannot be read from the store", "Rules are read from the store again")})
	})
	following.Go(func() { l.acker.Run(linked, rules) })
	l.running.Go(func() {
		following.Wait()
		l.retire(ctx, connected, publishing)
	})
	l.log.Info("Using the store", "settings", settings.Redacted())
	return nil
}

// kind is what kind of store is used.
func (l *storeLink) kind() string {
	if used := l.used.Load(); used != nil {
		return *used
	}
	return "none yet: no settings of a store are mounted"
}

// retire closes what belongs to a store that is used no more.
func (l *storeLink) retire(ctx context.Context, replaced *limiter.Redis, publishing redis.UniversalClient) {
	timer := time.NewTimer(retireAfter)
	defer timer.Stop()
	select {
	case <-ctx.Done():
	case <-timer.C:
	}
	replaced.Close()
	if err := publishing.Close(); err != nil {
		l.log.Warn("Close a client of the store", "error", err)
	}
}

// wait returns when everything of the link has ended, after its context has.
func (l *storeLink) wait() {
	if l.stop != nil {
		l.stop()
	}
	l.running.Wait()
}

// reporter logs the start and the end of a trouble.
func reporter(log *slog.Logger, trouble, over string) func(error) {
	return func(err error) {
		if err != nil {
			log.Warn("Trouble began", "trouble", trouble, "error", err)
			return
		}
		log.Info("Trouble ended", "state", over)
	}
}
