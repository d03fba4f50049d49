// Copyright The Penstock Authors.
// SPDX-License-Identifier: Apache-2.0

package store

import (
	"context"
	"errors"

	"github.com/penstock-dev/penstock/internal/ruleset"
)

// Head is what stands for a namespace, without the rule set itself.
type Head struct {
	// Sequence is 0 where nothing stands that sidecars could read.
	Sequence int64
	Revision string
	// LivePods are the live pods by PolicyKey, as SetLive wrote them.
	LivePods map[string]int64
}

// Head reads cheaply what stands for a namespace. What a hand has damaged reads as
// absent: Publish writes it anew.
func (s *Store) Head(ctx context.Context, namespace string) (Head, error) {
	found, err := s.readHead(ctx, namespace)
	if errors.Is(err, ErrCorrupt) {
		return Head{}, nil
	}
	return Head{Sequence: found.sequence, Revision: found.revision, LivePods: found.live}, err
}

// Load returns the rule set that stands for a namespace. Its sequence is 0 where
// nothing stands.
func (s *Store) Load(ctx context.Context, namespace string) (ruleset.Published, error) {
	found, body, err := s.readPublished(ctx, namespace)
	if err != nil || found.sequence == 0 {
		return ruleset.Published{}, err
	}
	return ruleset.Published{Sequence: found.sequence, Revision: found.revision, Body: body}, nil
}
