// Copyright The Penstock Authors.
// SPDX-License-Identifier: Apache-2.0

package store

import (
	"context"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/redis/go-redis/v9"

	"github.com/penstock-dev/penstock/internal/ruleset"
)

//go:embed standing.lua
var standingSource string

//go:embed publish.lua
var publishSource string

var (
	standingScript = redis.NewScript(standingSource)
	publishScript  = redis.NewScript(publishSource)
)

// publishAttempts bounds how often a publication starts anew because another
// writer came between. There is one operator at a time, so one is plenty.
const publishAttempts = 5

// ErrConflict says that other writers kept coming between.
var ErrConflict = errors.New("other writers publish the same namespace")

// Publication is what stands in the store for a namespace.
type Publication struct {
	// Sequence numbers this publication; it only grows.
	Sequence int64
	// Revision is the hash of the rule set's content.
	Revision string
	// Policies is the sequence of the last change of each policy, by PolicyKey. A
	// pod that acknowledged at least this runs the policy as it is now.
	Policies map[string]int64
	// Written is false where the same rule set stood already.
	Written bool
}

// Publish makes a rule set the one in force for its namespace and announces it.
// Where it stands already nothing is written. An error wraps
// ruleset.ErrTooLarge where the rule set does not fit.
func (s *Store) Publish(ctx context.Context, rs *ruleset.RuleSet) (Publication, error) {
	body, revision, err := ruleset.Encode(rs)
	if err != nil {
		return Publication{}, fmt.Errorf("publish: %w", err)
	}
	for range publishAttempts {
		old, err := s.standing(ctx, rs.Namespace)
		if err != nil {
			return Publication{}, fmt.Errorf("publish rule set of namespace %q: %w", rs.Namespace, err)
		}
		old.floor = max(old.floor, s.lastPublished(rs.Namespace)+1)
		next := plan(old, rs, body, revision)
		if !next.changed {
			return next.publication(false), nil
		}
		written, err := s.write(ctx, rs, old.sequenceText, next, body)
		if err != nil {
			return Publication{}, fmt.Errorf("publish rule set of namespace %q: %w", rs.Namespace, err)
		}
		if written {
			s.notePublished(rs.Namespace, next.sequence)
			return next.publication(true), nil
		}
	}
	return Publication{}, fmt.Errorf("publish rule set of namespace %q: %w: gave up after %d attempts; is a second operator running?",
		rs.Namespace, ErrConflict, publishAttempts)
}

// write replaces the publication whose sequence stands as oldSequence, empty for
// none, and reports false where another one stands meanwhile.
func (s *Store) write(ctx context.Context, rs *ruleset.RuleSet, oldSequence string, next planned, body []byte) (bool, error) {
	policies, err := json.Marshal(next.policies)
	if err != nil {
		return false, fmt.Errorf("encode policies: %w", err)
	}
	return publishScript.Run(ctx, s.client, []string{s.prefix.Rules(rs.Namespace)},
		oldSequence, next.sequence, next.revision, rs.Format, body, policies).Bool()
}

func (s *Store) standing(ctx context.Context, namespace string) (standing, error) {
	values, err := standingScript.Run(ctx, s.client, []string{s.prefix.Rules(namespace)}).StringSlice()
	if err != nil {
		return standing{}, fmt.Errorf("read what stands: %w", err)
	}
	return parseStanding(values)
}

// Surpass makes the next publication of a namespace newer than a sequence that it
// had in another store, whose clock may have been ahead: sidecars that move over
// take no older one.
func (s *Store) Surpass(namespace string, sequence int64) { s.notePublished(namespace, sequence) }

func (s *Store) lastPublished(namespace string) int64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.published[namespace]
}

func (s *Store) notePublished(namespace string, sequence int64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.published[namespace] = max(s.published[namespace], sequence)
}
