// Copyright The Penstock Authors.
// SPDX-License-Identifier: Apache-2.0

package redisconn

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net"
	"sync/atomic"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/redis/go-redis/v9/maintnotifications"
)

// errReplica says that the server which the sentinels named is no master any more,
// or not yet.
var errReplica = errors.New("the server that the sentinels name is a replica; they are asked again")

// masterFinder asks sentinels for the address of a master. Nothing is remembered
// but which of them answered: an address may be out of date a moment later.
type masterFinder struct {
	settings Settings
	// first is the index of the sentinel to ask first, the last that answered.
	first atomic.Int64
}

func newMasterFinder(settings Settings) *masterFinder { return &masterFinder{settings: settings} }

// dial connects to the server that is the master now. It is a redis.Options.Dialer
// that looks at its context alone.
func (f *masterFinder) dial(ctx context.Context, network, _ string) (net.Conn, error) {
	address, err := f.find(ctx)
	if err != nil {
		return nil, err
	}
	return dial(ctx, network, address, f.settings.TLS.config())
}

// find asks one sentinel after the other until one knows the master. Each may take
// an equal share of the time that is left, and a share is kept for the master: one
// that never answers must not use up everything.
func (f *masterFinder) find(ctx context.Context) (string, error) {
	count := len(f.settings.Addresses)
	first := int(f.first.Load())
	var failures error
	for i := range count {
		index := (first + i) % count
		address, err := f.ask(ctx, f.settings.Addresses[index], count-i+1)
		if err == nil {
			f.first.Store(int64(index))
			return address, nil
		}
		failures = errors.Join(failures, err)
	}
	return "", failures
}

func (f *masterFinder) ask(ctx context.Context, sentinel string, shares int) (string, error) {
	share := cmp.Or(f.settings.DialTimeout, DefaultDialTimeout) / time.Duration(shares)
	if deadline, ok := ctx.Deadline(); ok {
		share = time.Until(deadline) / time.Duration(shares)
	}
	ctx, cancel := context.WithTimeout(ctx, share)
	defer cancel()
	options := f.options(sentinel)
	options.DialTimeout = share
	client := redis.NewSentinelClient(options)
	// Nothing was written that could be lost.
	defer func() { _ = client.Close() }()
	found, err := client.GetMasterAddrByName(ctx, f.settings.MasterName).Result()
	if errors.Is(err, redis.Nil) {
		return "", fmt.Errorf("ask sentinel %s for the master: it knows none that is named %q", sentinel, f.settings.MasterName)
	}
	if err != nil {
		return "", fmt.Errorf("ask sentinel %s for the master %q: %w", sentinel, f.settings.MasterName, err)
	}
	if len(found) != 2 {
		return "", fmt.Errorf("ask sentinel %s for the master %q: it answers with %d words, want host and port", sentinel, f.settings.MasterName, len(found))
	}
	return net.JoinHostPort(found[0], found[1]), nil
}

// options are those of one question to a sentinel.
func (f *masterFinder) options(sentinel string) *redis.Options {
	secured := f.settings.TLS.config()
	return &redis.Options{
		Addr:                     sentinel,
		ClientName:               clientName,
		DisableIdentity:          true,
		Protocol:                 2,
		Username:                 f.settings.SentinelUsername,
		Password:                 f.settings.SentinelPassword,
		ContextTimeoutEnabled:    true,
		MaxRetries:               -1,
		DialerRetries:            1,
		PoolSize:                 1,
		PipelinePoolSize:         -1,
		MaintNotificationsConfig: &maintnotifications.Config{Mode: maintnotifications.ModeDisabled},
		Dialer: func(ctx context.Context, network, address string) (net.Conn, error) {
			return dial(ctx, network, address, secured)
		},
	}
}

// refuseReplica is a redis.Options.OnConnect. HELLO tells the role to every user;
// the command ROLE is for administrators.
func refuseReplica(ctx context.Context, conn *redis.Conn) error {
	reply, err := conn.Do(ctx, "hello", "2").Slice()
	if err != nil {
		return fmt.Errorf("ask the store for its role: %w", err)
	}
	for i := 0; i+1 < len(reply); i += 2 {
		if reply[i] == "role" && reply[i+1] != "master" {
			return errReplica
		}
	}
	return nil
}
