// Copyright The Penstock Authors.
// SPDX-License-Identifier: Apache-2.0

package store

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"github.com/redis/go-redis/v9"

	"github.com/penstock-dev/penstock/internal/keys"
)

// ErrPrefixInUse says that another cluster owns the key prefix.
var ErrPrefixInUse = errors.New("key prefix in use")

// ownerAttempts bounds the claim of a prefix whose owner vanishes meanwhile.
const ownerAttempts = 3

// Store reads and writes the rule sets and acks under one key prefix. It is safe
// for concurrent use.
type Store struct {
	client redis.UniversalClient
	prefix keys.Prefix

	mu sync.Mutex
	// published is the last sequence that this process published, by namespace.
	// It keeps sequences growing where the store lost them and its clock is
	// behind, as after a failover.
	published map[string]int64
}

// New returns the store behind a client. The client may retry: nothing that this
// package sends does harm when it is sent twice. The client stays the caller's to
// close.
func New(client redis.UniversalClient, prefix keys.Prefix) *Store {
	if prefix == "" {
		prefix = keys.DefaultPrefix
	}
	return &Store{client: client, prefix: prefix, published: map[string]int64{}}
}

// PolicyKey names a policy within a namespace, for Publication.Policies and for
// counts of live pods.
func PolicyKey(kind, name string) string { return kind + "/" + name }

// Owner claims the key prefix for a cluster, which is known by the uid of its
// kube-system namespace. Where another cluster has it the error wraps
// ErrPrefixInUse: two clusters must not count in each other's keys by accident.
func (s *Store) Owner(ctx context.Context, clusterUID string) error {
	for range ownerAttempts {
		claimed, err := s.client.SetNX(ctx, s.prefix.Owner(), clusterUID, 0).Result()
		if err != nil {
			return fmt.Errorf("claim key prefix %q: %w", s.prefix, err)
		}
		if claimed {
			return nil
		}
		owner, err := s.client.Get(ctx, s.prefix.Owner()).Result()
		if errors.Is(err, redis.Nil) {
			continue
		}
		if err != nil {
			return fmt.Errorf("read the owner of key prefix %q: %w", s.prefix, err)
		}
		if owner == clusterUID {
			return nil
		}
		return fmt.Errorf("claim key prefix %q: %w: key %s names cluster %s, this cluster is %s; "+
			"give this cluster a keyPrefix of its own, or delete that key if the other cluster is gone",
			s.prefix, ErrPrefixInUse, s.prefix.Owner(), owner, clusterUID)
	}
	return fmt.Errorf("claim key prefix %q: key %s keeps vanishing; see who deletes it", s.prefix, s.prefix.Owner())
}

// Withdraw deletes all that the store has of a namespace but its counters, which
// expire. Sidecars that still run keep their last rules: publish an empty rule set
// first where pods outlive the namespace's membership.
func (s *Store) Withdraw(ctx context.Context, namespace string) error {
	// One call per key: in Redis Cluster they live in different slots.
	for _, key := range []string{s.prefix.Rules(namespace), s.prefix.Acks(namespace)} {
		if err := s.client.Unlink(ctx, key).Err(); err != nil {
			return fmt.Errorf("withdraw namespace %q: delete %s: %w", namespace, key, err)
		}
	}
	return nil
}
