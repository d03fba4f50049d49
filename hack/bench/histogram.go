// Copyright The Penstock Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"math/bits"
	"sync/atomic"
	"time"
)

// steps is into how many parts each power of two is divided: latencies are known to
// one part in 32.
const steps = 32

// histogram counts latencies. Any number of goroutines may add to it.
type histogram struct{ counts [64 * steps]atomic.Int64 }

func (h *histogram) add(latency time.Duration) { h.counts[slotOf(uint64(max(latency, 1)))].Add(1) }

func slotOf(value uint64) int {
	power := bits.Len64(value) - 1
	if power < 5 {
		return int(value)
	}
	return power*steps + int(value>>(power-5))&(steps-1)
}

// valueOf is the least value of a slot.
func valueOf(slot int) time.Duration {
	power := slot / steps
	if power < 5 {
		return time.Duration(slot)
	}
	return time.Duration((steps + slot%steps) << (power - 5))
}

func (h *histogram) empty() {
	for i := range h.counts {
		h.counts[i].Store(0)
	}
}

// quantile is the latency that so many in a thousand do not exceed; 0 for no latencies.
func (h *histogram) quantile(perMille int64) time.Duration {
	total := int64(0)
	for i := range h.counts {
		total += h.counts[i].Load()
	}
	seen := int64(0)
	for i := range h.counts {
		if seen += h.counts[i].Load(); seen*1000 >= total*perMille && seen > 0 {
			return valueOf(i)
		}
	}
	return 0
}
