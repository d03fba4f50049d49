// Copyright The Penstock Authors.
// SPDX-License-Identifier: Apache-2.0

package limiter

import (
	"context"
	"hash/maphash"
	"math/bits"
	"time"
)

// DefaultMemoryKeys is how many counters a Memory keeps when told none: about
// 30 MB.
const DefaultMemoryKeys = 100_000

const (
	// mostShards is how many shards a Memory has at most. A set of them fits 64 bits.
	mostShards = 16
	// keysPerShard is how many counters a shard keeps at least, if there are several:
	// then they fill about evenly.
	keysPerShard = 1024
)

// Memory decides in the process, by the arithmetic of the script. It keeps at most
// so many counters, of which those with long logs count as several. Each decision
// removes a few that are unused again. When it is full, those that would be unused
// first make room for others, which forgets what their clients had spent. So a flood
// of identities costs accuracy, never memory.
//
// Counters are spread over shards by their identity. A request locks those of its
// identities, mostly one, in ascending order, so it is decided all at once.
type Memory struct {
	now     func() time.Time
	seed    maphash.Seed
	shards  []shard
	leavers leavers
}

var _ Decider = (*Memory)(nil)

type counterName struct{ namespace, identity, limit string }

// NewMemory returns an empty limiter. Its clock must not step back: a nil now is this
// machine's time as it goes on from now, whatever its clock is set to. A maxKeys below
// 1 is DefaultMemoryKeys.
func NewMemory(now func() time.Time, maxKeys int) *Memory {
	if now == nil {
		now = steadyClock(time.Now())
	}
	if maxKeys < 1 {
		maxKeys = DefaultMemoryKeys
	}
	count := 1
	for count < mostShards && maxKeys >= 2*count*keysPerShard {
		count *= 2
	}
	m := &Memory{now: now, seed: maphash.MakeSeed(), shards: make([]shard, count)}
	for i := range m.shards {
		// Together they keep exactly maxKeys.
		m.shards[i].most = (maxKeys + i) / count
		m.shards[i].counters = make(map[counterName]*counter)
	}
	return m
}

// steadyClock is a clock that is never set.
func steadyClock(began time.Time) func() time.Time {
	shown := began.Round(0)
	return func() time.Time { return shown.Add(time.Since(began)) }
}

// Forgotten is how many counters made room for others while they were in use. Each
// may have admitted its limit once more.
func (m *Memory) Forgotten() int64 {
	total := int64(0)
	for i := range m.shards {
		m.shards[i].mu.Lock()
		total += m.shards[i].forgotten
		m.shards[i].mu.Unlock()
	}
	return total
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
	now := m.charge(namespace, checks, plans, stands)
	decision := decisionOf(checks, plans, stands, source)
	decision.Receipt = receiptFor(m, namespace, checks, plans, stands, now)
	if source == Store {
		decision.StoreTime = now
	}
	return decision
}

// met is what a request meets: a shard, and in it a counter, nil if it is unused.
type met struct {
	shard   *shard
	counter *counter
}

// charge compares all plans with their counters, which tells the standings, and
// charges all or none. It returns when that was.
func (m *Memory) charge(namespace string, checks []Check, plans []plan, stands []standing) int64 {
	// Most requests meet few limits: these need no memory from the heap.
	var few [4]met
	found := few[:min(len(checks), len(few))]
	if len(checks) > len(few) {
		found = make([]met, len(checks))
	}
	numbers := uint64(0)
	for i := range checks {
		number := m.shardOf(checks[i].Identity)
		found[i].shard = &m.shards[number]
		numbers |= 1 << number
	}
	m.lock(numbers)
	defer m.unlock(numbers)
	now := m.now().UnixMicro()
	for i := range found {
		found[i].counter = found[i].shard.counters[nameOf(namespace, &checks[i])]
		stands[i] = plans[i].stand(found[i].counter.stored(), now)
	}
	admitted := allAdmit(plans, stands)
	for i := range found {
		e, stored := &found[i], found[i].counter.stored()
		if admitted && stands[i].admits && !plans[i].free() {
			e.shard.put(e.counter, nameOf(namespace, &checks[i]), plans[i].charge(stored, stands[i], now))
		} else if cut, ok := plans[i].cut(stored, stands[i], now); ok && e.counter != nil {
			// A clock left a time that cannot be.
			e.shard.put(e.counter, e.counter.name, cut)
		}
	}
	for i := range found {
		found[i].shard.tend(now)
	}
	return now
}

// correct corrects charges at once.
func (m *Memory) correct(namespace string, corrections []correction) {
	for i := range corrections {
		corrections[i].namespace, corrections[i].until = namespace, time.Now().Add(leaseFor)
		m.correctOne(namespace, &corrections[i])
	}
}

func (m *Memory) correctOne(namespace string, c *correction) {
	s := &m.shards[m.shardOf(c.identity)]
	s.mu.Lock()
	defer s.mu.Unlock()
	now := m.now().UnixMicro()
	name := counterName{namespace: namespace, identity: c.identity, limit: c.limit}
	known := s.counters[name]
	if known == nil && c.kind == giveBack {
		return
	}
	s.put(known, name, m.corrected(known.stored(), c, now))
	s.tend(now)
}

// corrected is a state after a correction and, if that gave back the last slot of a queue,
// those of who left before.
func (m *Memory) corrected(stored state, c *correction, now int64) state {
	changed := c.apply(stored, now)
	_, to, isSlot := c.slot()
	switch {
	case !isSlot:
	case stored.until != to.at || stored.more != to.parts:
		m.leavers.add(*c)
	default:
		for _, earlier := range m.leavers.before(c) {
			changed = earlier.apply(changed, now)
		}
	}
	return changed
}

// shardOf is the number of the shard of an identity. Nobody can guess which
// identities share one.
func (m *Memory) shardOf(identity string) int {
	return int(maphash.String(m.seed, identity) & uint64(len(m.shards)-1))
}

// lock locks the shards of a set, in ascending order.
func (m *Memory) lock(numbers uint64) {
	for ; numbers != 0; numbers &= numbers - 1 {
		m.shards[bits.TrailingZeros64(numbers)].mu.Lock()
	}
}

func (m *Memory) unlock(numbers uint64) {
	for ; numbers != 0; numbers &= numbers - 1 {
		m.shards[bits.TrailingZeros64(numbers)].mu.Unlock()
	}
}

func nameOf(namespace string, check *Check) counterName {
	return counterName{namespace: namespace, identity: check.Identity, limit: check.Limit.Key}
}
