// Copyright The Penstock Authors.
// SPDX-License-Identifier: Apache-2.0

package controllers

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/penstock-dev/penstock/internal/ruleset"
	"github.com/penstock-dev/penstock/internal/store"
)

// pruneAfter is how old the ack of an unknown pod must be before it is deleted: the
// cache may hear of a pod later than the store does.
const pruneAfter = time.Minute

// loadPublished finds out what is in force before anything is published: without
// it a restarted operator would take the last valid form of an invalid policy out
// of force. It stands in the store, or if the store lost it, in the Secret.
func (r *NamespaceReconciler) loadPublished(ctx context.Context, s *scope, m *memory, live *liveStore, storeErr error) error {
	if m.loaded || storeErr != nil && m.published != nil {
		return nil
	}
	snapshot, err := r.secrets.snapshot(ctx, s.name)
	if err != nil {
		return err
	}
	found := []ruleset.Published{snapshot}
	if storeErr == nil {
		ctx, cancel := context.WithTimeout(ctx, storeTimeout)
		defer cancel()
		standing, err := live.Load(ctx, s.name)
		if errors.Is(err, store.ErrCorrupt) || damaged(err) {
			standing, err = ruleset.Published{}, nil
		}
		if err != nil {
			r.stores.Failed(m.storeName, err)
			return fmt.Errorf("load what is in force: %w", err)
		}
		found = []ruleset.Published{standing, snapshot}
	}
	slices.SortStableFunc(found, func(a, b ruleset.Published) int { return cmp.Compare(b.Sequence, a.Sequence) })
	m.published, m.inputs = nil, ""
	for _, published := range found {
		// One that is damaged makes way for an older one that is not. The Secret may
		// be written by others: what is another namespace's is none of this one.
		rs, err := ruleset.Decode(published.Body)
		if published.Sequence > 0 && err == nil && rs.Namespace == s.name {
			m.published = rs
			break
		}
	}
	m.loaded = storeErr == nil
	return nil
}

// damaged reports whether a key of the namespace is of another type than was ever
// written there. Redis tells it by this word only.
func damaged(err error) bool { return err != nil && strings.Contains(err.Error(), "WRONGTYPE") }

// standing is what the store had before a pass changed it.
type standing struct {
	// live are the live pods that stand there; nil if none do.
	live map[string]int64
}

// publish makes a rule set the one in force, or proves that it is. Where it does
// not fit, the last one stays, and is kept from vanishing.
func publish(ctx context.Context, live *liveStore, m *memory, rs *ruleset.RuleSet) (standing, error) {
	if m.tooLarge != nil && m.tooLargeFor == rs {
		return keep(ctx, live, m)
	}
	if m.published == rs {
		m.tooLarge, m.tooLargeFor = nil, nil
		return keep(ctx, live, m)
	}
	publication, err := m.publishTo(ctx, live, rs)
	switch {
	case errors.Is(err, ruleset.ErrTooLarge):
		m.tooLarge, m.tooLargeFor = err, rs
		return keep(ctx, live, m)
	case err != nil:
		return standing{}, err
	}
	m.tooLarge, m.tooLargeFor = nil, nil
	m.published, m.publication = rs, publication
	return standing{}, nil
}

// keep proves that the last rule set still stands, and writes it back if not.
func keep(ctx context.Context, live *liveStore, m *memory) (standing, error) {
	if m.published == nil {
		return standing{}, nil
	}
	if m.publication.Sequence > 0 && !m.doubted {
		head, err := live.Head(ctx, m.published.Namespace)
		if err != nil {
			return standing{}, err
		}
		if head.Sequence == m.publication.Sequence && head.Revision == m.publication.Revision {
			return standing{live: head.LivePods}, nil
		}
	}
	publication, err := m.publishTo(ctx, live, m.published)
	if err != nil {
		return standing{}, err
	}
	m.publication = publication
	return standing{}, nil
}

// publishTo publishes with a sequence above all that the namespace had, wherever.
func (m *memory) publishTo(ctx context.Context, live *liveStore, rs *ruleset.RuleSet) (store.Publication, error) {
	m.newest = max(m.newest, m.publication.Sequence)
	live.Surpass(rs.Namespace, m.newest)
	return live.Publish(ctx, rs)
}

// setLive writes the live pods if others stand there.
func (s standing) setLive(ctx context.Context, live *liveStore, namespace string, counts map[string]int64) error {
	if s.live != nil && maps.Equal(s.live, counts) {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, storeTimeout)
	defer cancel()
	return live.SetLive(ctx, namespace, counts)
}

// readAcks reads what the namespace's sidecars say, and forgets pods that are gone.
func (r *NamespaceReconciler) readAcks(ctx context.Context, s *scope, m *memory, live *liveStore) (ackView, error) {
	acks, storeNow, err := live.ReadAcks(ctx, s.name)
	if err != nil {
		return ackView{}, err
	}
	now := r.now()
	if m.listeningSince.IsZero() {
		m.listeningSince = now
	}
	var gone []string
	m.doubted = false
	for uid, ack := range acks {
		m.doubted = m.doubted || ack.Problem == store.ProblemInvalidRuleSet
		age := storeNow.Sub(ack.Time)
		m.lastSeen[uid] = now.Add(-age)
		if !s.podUIDs[uid] && age > pruneAfter {
			gone = append(gone, uid)
		}
	}
	maps.DeleteFunc(m.lastSeen, func(uid string, _ time.Time) bool { return !s.podUIDs[uid] })
	if err := live.PruneAcks(ctx, s.name, gone); err != nil {
		return ackView{}, err
	}
	return ackView{
		now: now, listeningSince: m.listeningSince, acks: acks,
		published: m.publication, lastSeen: maps.Clone(m.lastSeen),
	}, nil
}
