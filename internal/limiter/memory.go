// Copyright The Penstock Authors.
// SPDX-License-Identifier: Apache-2.0

package limiter

import (
	"context"
	"sync"
	"time"
)

// DefaultMemoryKeys is how many counters a Memory keeps when told none: about
// 20 MB.
const DefaultMemoryKeys = 100_000

const (
	// sampled is how many counters are looked at to make room for a new one.
	sampled = 8
	// roomy is how many counters are kept without looking for unused ones.
	roomy = 1024
)

// Memory decides in the process, by the arithmetic of the script. It keeps at
// most so many counters. Beyond the first thousand, every new counter looks at a
// few others and removes those that are unused again; when it is full it removes,
// of these few, the one that would be unused first, which forgets what that
// client had spent. So a flood of identities costs accuracy, never memory.
type Memory struct {
	now      func() time.Time
	maxKeys  int
	mu       sync.Mutex
	counters map[counterName]state
}

var _ Decider = (*Memory)(nil)

type counterName struct{ namespace, identity, limit string }

// NewMemory returns an empty limiter. A nil now is time.Now, and a maxKeys below
// 1 is DefaultMemoryKeys.
func NewMemory(now func() time.Time, maxKeys int) *Memory {
	if now == nil {
		now = time.Now
	}
	if maxKeys < 1 {
		maxKeys = DefaultMemoryKeys
	}
	return &Memory{now: now, maxKeys: maxKeys, counters: make(map[counterName]state)}
}

// Decide decides at once. Its only errors are about limits out of range.
func (m *Memory) Decide(_ context.Context, namespace string, checks []Check) (Decision, error) {
	checks = distinct(checks)
	plans, err := plansFor(checks, m.now)
	if err != nil {
		return Decision{}, err
	}
	return m.decide(namespace, checks, plans, Store), nil
}

// decide checks all plans and charges all or none.
func (m *Memory) decide(namespace string, checks []Check, plans []plan, source Source) Decision {
	stands := make([]standing, len(plans))
	m.mu.Lock()
	now := m.now().UnixMicro()
	for i := range plans {
		stands[i] = plans[i].stand(m.counters[nameOf(namespace, &checks[i])], now)
	}
	if allAdmit(stands) {
		for i := range plans {
			if !plans[i].free() {
				m.put(nameOf(namespace, &checks[i]), plans[i].charge(stands[i], now), now)
			}
		}
	}
	m.mu.Unlock()
	return decisionOf(checks, plans, stands, source)
}

func nameOf(namespace string, check *Check) counterName {
	return counterName{namespace: namespace, identity: check.Identity, limit: check.Limit.Key}
}

func (m *Memory) put(name counterName, counter state, now int64) {
	if _, known := m.counters[name]; !known && len(m.counters) >= min(roomy, m.maxKeys) {
		m.makeRoom(now)
	}
	m.counters[name] = counter
}

// makeRoom looks at a few counters; the map gives them in a random order.
func (m *Memory) makeRoom(now int64) {
	var soonest counterName
	var until int64
	looked := 0
	for name, counter := range m.counters {
		if looked == sampled {
			break
		}
		looked++
		if counter.until < now {
			delete(m.counters, name)
			continue
		}
		if until == 0 || counter.until < until {
			soonest, until = name, counter.until
		}
	}
	if len(m.counters) >= m.maxKeys {
		delete(m.counters, soonest)
	}
}
