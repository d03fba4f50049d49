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
	// loggedPerKey times the most counters is how many entries all logs together
	// may have.
	loggedPerKey = 16
)

// Memory decides in the process, by the arithmetic of the script. It keeps at
// most so many counters. Beyond the first thousand, every new counter looks at a
// few others and removes those that are unused again; when it is full it removes,
// of these few, the one that would be unused first, which forgets what that
// client had spent. So a flood of identities costs accuracy, never memory. The
// entries of logs are bounded likewise.
type Memory struct {
	now      func() time.Time
	maxKeys  int
	mu       sync.Mutex
	counters map[counterName]state
	// logged is how many entries the logs have.
	logged int
}

var _ Decider = (*Memory)(nil)

type counterName struct{ namespace, identity, limit string }

// NewMemory returns an empty limiter. A nil now is this machine's time as it goes on
// from now, whatever its clock is set to, and a maxKeys below
// 1 is DefaultMemoryKeys.
func NewMemory(now func() time.Time, maxKeys int) *Memory {
	if now == nil {
		now = steadyClock(time.Now())
	}
	if maxKeys < 1 {
		maxKeys = DefaultMemoryKeys
	}
	return &Memory{now: now, maxKeys: maxKeys, counters: make(map[counterName]state)}
}

// steadyClock is a clock that is never set.
func steadyClock(began time.Time) func() time.Time {
	shown := began.Round(0)
	return func() time.Time { return shown.Add(time.Since(began)) }
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
	admitted := allAdmit(plans, stands)
	for i := range plans {
		m.settle(nameOf(namespace, &checks[i]), plans[i], stands[i], admitted, now)
	}
	m.mu.Unlock()
	decision := decisionOf(checks, plans, stands, source)
	decision.Receipt = receiptFor(m, namespace, checks, plans, stands, now)
	if source == Store {
		decision.StoreTime = now
	}
	return decision
}

// settle charges a limit, or brings its state back from a time that cannot be.
func (m *Memory) settle(name counterName, made plan, stand standing, admitted bool, now int64) {
	if admitted && stand.admits && !made.free() {
		m.put(name, now, func(stored state) state { return made.charge(stored, stand, now) })
		return
	}
	if stored, known := m.counters[name]; known {
		if cut, ok := made.cut(stored, stand, now); ok {
			m.counters[name] = cut
		}
	}
}

// correct corrects charges at once.
func (m *Memory) correct(namespace string, corrections []correction) {
	m.mu.Lock()
	defer m.mu.Unlock()
	now := m.now().UnixMicro()
	for i := range corrections {
		c := &corrections[i]
		name := counterName{namespace: namespace, identity: c.identity, limit: c.limit}
		if _, known := m.counters[name]; !known && c.kind == giveBack {
			continue
		}
		m.put(name, now, func(stored state) state { return c.apply(stored, now) })
	}
}

func nameOf(namespace string, check *Check) counterName {
	return counterName{namespace: namespace, identity: check.Identity, limit: check.Limit.Key}
}

// put changes a counter, and makes room for it if it is new.
func (m *Memory) put(name counterName, now int64, change func(state) state) {
	stored, known := m.counters[name]
	if !known && len(m.counters) >= min(roomy, m.maxKeys) {
		m.forget(now, len(m.counters) >= m.maxKeys, func(state) bool { return true })
	}
	before := len(stored.log)
	counter := change(stored)
	m.counters[name] = counter
	m.logged += len(counter.log) - before
	// Twice, so that the logs shrink until they fit again.
	for range 2 {
		if m.logged > m.maxKeys*loggedPerKey {
			m.forget(now, true, func(s state) bool { return len(s.log) > 0 })
		}
	}
}

// forget looks at a few counters of a kind and removes those that are unused
// again, and if it must, the one that would be so first. The map gives them in a
// random order.
func (m *Memory) forget(now int64, must bool, kind func(state) bool) {
	var soonest counterName
	var until int64
	looked := 0
	for name, counter := range m.counters {
		if looked == sampled {
			break
		}
		if !kind(counter) {
			continue
		}
		looked++
		if counter.until < now {
			m.remove(name)
			must = false
			continue
		}
		if until == 0 || counter.until < until {
			soonest, until = name, counter.until
		}
	}
	if must {
		m.remove(soonest)
	}
}

func (m *Memory) remove(name counterName) {
	m.logged -= len(m.counters[name].log)
	delete(m.counters, name)
}
