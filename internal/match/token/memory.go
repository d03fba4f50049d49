// Copyright The Penstock Authors.
// SPDX-License-Identifier: Apache-2.0

package token

import (
	"container/list"
	"crypto/sha256"
	"sync"
	"time"
)

// Bounds of what a verifier remembers. Claims take a few times the token's length.
const (
	maxRemembered      = 1024
	maxRememberedBytes = 1 << 20
)

// sum names a token.
type sum = [sha256.Size]byte

// remembered is a token that was verified.
type remembered struct {
	sum    sum
	claims *Claims
	// keys is the set that verified it: another has to do it again.
	keys *KeySet
	// until is when the token ends.
	until time.Time
	// size is the token's length.
	size int
}

// memory holds the tokens that were used last. Tokens that were not believed are not
// remembered, or clients could push the good ones out.
type memory struct {
	most, mostBytes int

	mu sync.Mutex
	// recent has the last used first.
	recent *list.List
	bySum  map[sum]*list.Element
	bytes  int
}

func newMemory(most, mostBytes int) *memory {
	return &memory{most: most, mostBytes: mostBytes, recent: list.New(), bySum: make(map[sum]*list.Element)}
}

// get returns the claims of a token that these keys verified and that has not ended;
// nil if it is not remembered.
func (m *memory) get(name sum, keys *KeySet, now time.Time) *Claims {
	m.mu.Lock()
	defer m.mu.Unlock()
	element := m.bySum[name]
	if element == nil {
		return nil
	}
	entry := element.Value.(*remembered)
	if entry.keys != keys || !now.Before(entry.until) {
		m.forget(element)
		return nil
	}
	m.recent.MoveToFront(element)
	return entry.claims
}

func (m *memory) put(name sum, entry *remembered) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if before := m.bySum[name]; before != nil {
		m.forget(before)
	}
	entry.sum = name
	m.bySum[name] = m.recent.PushFront(entry)
	m.bytes += entry.size
	for m.recent.Len() > m.most || m.bytes > m.mostBytes {
		m.forget(m.recent.Back())
	}
}

func (m *memory) forget(element *list.Element) {
	entry := m.recent.Remove(element).(*remembered)
	delete(m.bySum, entry.sum)
	m.bytes -= entry.size
}
