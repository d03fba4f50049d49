// Copyright The Penstock Authors.
// SPDX-License-Identifier: Apache-2.0

package controllers

import (
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/penstock-dev/penstock/internal/compile"
	"github.com/penstock-dev/penstock/internal/ruleset"
	"github.com/penstock-dev/penstock/internal/store"
)

// memory is what the operator remembers of a namespace between passes. All of it
// can be lost: it is read back from the store, the Secret and the objects. It is
// used by one pass at a time.
type memory struct {
	// left says that nothing of the namespace is in the store or its Secret.
	left bool
	// storeName is the store that the publication stands in.
	storeName string

	// loaded says that published is known for sure.
	loaded bool
	// published is the rule set in force; nil if there is none.
	published *ruleset.RuleSet
	// publication is that of published; its sequence is 0 if it has to be asked for.
	publication store.Publication
	// doubted says that a sidecar could not read what stands: its body is compared,
	// and not only its revision.
	doubted bool
	// newest is the greatest sequence of former publications, in any store.
	newest int64
	// tooLarge is why the rule set tooLargeFor does not fit in the store.
	tooLarge    error
	tooLargeFor *ruleset.RuleSet

	// inputs names what compiled was made from.
	inputs   string
	compiled compile.Output

	// listeningSince is since when acks could be read without interruption.
	listeningSince time.Time
	lastSeen       map[string]time.Time

	// written is the status of each policy that was last written, by its uid.
	written map[types.UID]writtenStatus

	secret secretMemory

	// nextLook is when the namespace is looked at next without being asked to.
	nextLook time.Duration
}

// secretMemory is what is known of a namespace's Secret.
type secretMemory struct {
	// checked is when the Secret was last read.
	checked time.Time
	// written is when a snapshot was last written to it.
	written time.Time
	// settings and sequence are what stands in it.
	settings string
	sequence int64
	// dropped says that there is none, because no sidecar needs it.
	dropped bool
}

// memories are those of all namespaces, by name.
type memories struct {
	mu     sync.Mutex
	byName map[string]*memory
}

func newMemories() *memories { return &memories{byName: map[string]*memory{}} }

func (m *memories) of(namespace string) *memory {
	m.mu.Lock()
	defer m.mu.Unlock()
	found, ok := m.byName[namespace]
	if !ok {
		found = &memory{lastSeen: map[string]time.Time{}, written: map[types.UID]writtenStatus{}}
		m.byName[namespace] = found
	}
	return found
}

func (m *memories) drop(namespace string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	delete(m.byName, namespace)
}

// lookAgainIn brings the next look forward.
func (m *memory) lookAgainIn(wait time.Duration) { m.nextLook = min(m.nextLook, wait) }

// publishedPolicy is a policy's form in force; nil if it has none.
func (m *memory) publishedPolicy(name string) *ruleset.Policy {
	if m.published == nil {
		return nil
	}
	for i := range m.published.Policies {
		policy := &m.published.Policies[i]
		if policy.Kind == compile.KindRateLimitPolicy && policy.Name == name {
			return policy
		}
	}
	return nil
}

// moveTo forgets what stood in another store.
func (m *memory) moveTo(storeName string) {
	if m.storeName == storeName {
		return
	}
	m.storeName = storeName
	m.newest = max(m.newest, m.publication.Sequence)
	m.publication = store.Publication{}
	m.listeningSince = time.Time{}
	m.secret = secretMemory{}
}
