// Copyright The Penstock Authors.
// SPDX-License-Identifier: Apache-2.0

package model

import (
	"math/big"
	"slices"
)

// slidingWindowLog remembers when each request came.
type slidingWindowLog struct {
	times []int64
	bound bound
}

// live are the requests that count now, in order. One of later, left by a clock
// that stepped back, counts as if it came now.
func (l *slidingWindowLog) live(now int64, check Check) []int64 {
	var live []int64
	for _, at := range l.times {
		if at = min(at, now); at > now-check.Limit.WindowMicros {
			live = append(live, at)
		}
	}
	slices.Sort(live)
	return live
}

func (l *slidingWindowLog) used(now int64, check Check) *big.Rat {
	used := int64(0)
	for _, at := range l.times {
		if at > now-check.Limit.WindowMicros {
			used++
		}
	}
	return rat(used)
}

func (l *slidingWindowLog) fallsTo(now int64, check Check, most *big.Rat) int64 {
	live := l.live(now, check)
	return live[len(live)-int(floor(most))-1] + check.Limit.WindowMicros - now
}

func (l *slidingWindowLog) charge(now int64, check Check) {
	l.times = append(l.live(now, check), slices.Repeat([]int64{now}, int(check.Cost))...)
}

func (l *slidingWindowLog) bringBack(now int64, check Check) {
	if len(l.times) > 0 && slices.Max(l.times) > now {
		l.times = l.live(now, check)
	}
}

// giveBack returns requests of the time of the charge.
func (l *slidingWindowLog) giveBack(_, charged int64, _ Check, amount int64) {
	for range amount {
		if at := slices.Index(l.times, charged); at >= 0 {
			l.times = slices.Delete(l.times, at, at+1)
		}
	}
}

func (l *slidingWindowLog) late(now int64, check Check, amount int64) {
	added, at := min(amount, l.bound.most(check)-int64(len(l.live(now, check)))), now
	if len(l.times) > 0 {
		// Entries stay in order, also after the clock stepped back.
		at = max(at, slices.Max(l.times))
	}
	l.times = append(l.times, slices.Repeat([]int64{at}, int(max(0, added)))...)
}
