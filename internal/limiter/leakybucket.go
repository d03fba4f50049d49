// Copyright The Penstock Authors.
// SPDX-License-Identifier: Apache-2.0

package limiter

// leakyBucket is a queue that requests leave at a steady rate. It admits as a
// tokenBucket does, and its state is the same: the time when the queue is empty
// again is also when the next request may go on. So an admitted request is told to
// wait until then.
type leakyBucket struct{ tokenBucket }

func (b *leakyBucket) same(other plan) bool { return sameAs(b, other) }

func (b *leakyBucket) report(stand standing, charged bool) report {
	told := b.tokenBucket.report(stand, charged)
	if charged && !b.free() {
		told.delay = span{whole: stand.first, parts: stand.second}.ceiling()
	}
	return told
}

func (b *leakyBucket) appendCorrection(arguments []any, stand standing) []any {
	return b.appendTo(arguments, "queue", b.cost.whole, b.cost.parts, b.empty.whole, b.empty.parts, int64(b.unit), stand.first, stand.second)
}

// slot is when a request's turn begins and ends that was charged at a time.
func (b *leakyBucket) slot(stand standing, charged int64) (from, to span) {
	from = span{whole: stand.first, parts: stand.second}
	to = b.add(from, b.cost)
	from.whole, to.whole = charged+from.whole, charged+to.whole
	return from, to
}

// back frees the request's slot if it is the last one: those behind it are on their
// way already.
func (b *leakyBucket) back(stored state, stand standing, charged, _ int64) state {
	from, to := b.slot(stand, charged)
	if stored.until != to.whole || stored.more != to.parts {
		return stored
	}
	return state{until: from.whole, more: from.parts}
}

func (b *leakyBucket) costing(cost int64) plan {
	other := *b
	other.price(cost)
	return &other
}
