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

// back frees the request's slot if it is the last one: those behind it are on their
// way already.
func (b *leakyBucket) back(stored state, stand standing, charged, _ int64) state {
	slot := span{whole: stand.first, parts: stand.second}
	end := b.add(slot, b.cost)
	if stored.until != charged+end.whole || stored.more != end.parts {
		return stored
	}
	return state{until: charged + slot.whole, more: slot.parts}
}

func (b *leakyBucket) costing(cost int64) plan {
	other := *b
	other.price(cost)
	return &other
}
