// Copyright The Penstock Authors.
// SPDX-License-Identifier: Apache-2.0

package model

import "math/big"

// fixedWindow counts in windows that follow one another from the Unix epoch on, or
// in periods of the calendar.
type fixedWindow struct {
	number, count int64
	bound         bound
}

// numberOf is that of the window around a time; later windows have larger ones.
func numberOf(now int64, check Check) int64 {
	if check.Limit.Calendar != nil {
		return periodOf(now, *check.Limit.Calendar)
	}
	return now / check.Limit.WindowMicros
}

// counted takes a window of later, left by a clock that stepped back, for the present.
func (w *fixedWindow) counted(now int64, check Check) int64 {
	if w.number < numberOf(now, check) {
		return 0
	}
	return w.bound.cut(w.count, check)
}

func (w *fixedWindow) put(now int64, check Check, count int64) {
	w.number, w.count = numberOf(now, check), count
}

func (w *fixedWindow) used(now int64, check Check) *big.Rat { return rat(w.counted(now, check)) }

func (w *fixedWindow) fallsTo(now int64, check Check, _ *big.Rat) int64 {
	if check.Limit.Calendar != nil {
		return PeriodEnd(now, *check.Limit.Calendar) - now
	}
	return (numberOf(now, check)+1)*check.Limit.WindowMicros - now
}

func (w *fixedWindow) charge(now int64, check Check) {
	w.put(now, check, w.counted(now, check)+check.Cost)
}

func (w *fixedWindow) bringBack(now int64, check Check) {
	if w.number > numberOf(now, check) {
		w.put(now, check, w.counted(now, check))
	}
}

// giveBack returns what the present window was charged.
func (w *fixedWindow) giveBack(now, charged int64, check Check, amount int64) {
	count := w.counted(now, check)
	if numberOf(charged, check) >= numberOf(now, check) {
		count = max(0, count-amount)
	}
	w.put(now, check, count)
}

func (w *fixedWindow) late(now int64, check Check, amount int64) {
	w.put(now, check, w.bound.cut(w.counted(now, check)+amount, check))
}
