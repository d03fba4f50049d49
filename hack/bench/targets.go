// Copyright The Penstock Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"slices"
	"time"
)

// target is something to reach, and what was measured.
type target struct {
	name, wanted, measured string
	met                    bool
}

func (t target) verdict() string {
	if t.met {
		return "met"
	}
	return "**missed**"
}

// targets are all of them.
func (f *findings) targets() []target {
	if f.partial {
		return nil
	}
	list := append(f.ratios(), atMost("Redis CPU of a TokenBucket check, full calls", f.full.redisCPU, 4, "µs"))
	perCore := 1e6 / f.full.redisCPU
	list = append(list,
		target{
			name: "TokenBucket checks per Redis core, full calls", wanted: "≥ 250,000/s",
			measured: thousands(perCore) + "/s", met: perCore >= 250_000,
		},
		target{
			name: "a refusal from memory", wanted: "≤ 500 ns", measured: fmt.Sprintf("%d ns", f.refusal.Nanoseconds()),
			met: f.refusal <= 500*time.Nanosecond,
		})
	for _, print := range f.footprint {
		if print.target > 0 {
			list = append(list, atMost("memory: "+print.name, print.bytes, print.target, "B"))
		}
	}
	return list
}

// ratios compare checks per second within a class.
func (f *findings) ratios() []target {
	var list []target
	for _, pair := range []struct {
		ours    string
		callers int
		atLeast float64
		others  []string
	}{
		{"Penstock TokenBucket", 64, 2, []string{"redis_rate v10 (GCRA)", "throttled v2 (GCRA)"}},
		{"Penstock FixedWindow", 64, 2, []string{"ulule/limiter v3 (fixed window)"}},
		{"Penstock TokenBucket", 64, 1, []string{"auto-pipelined EVALSHA (rueidis)"}},
		{"Penstock TokenBucket", 256, 1, []string{"auto-pipelined EVALSHA (rueidis)"}},
	} {
		best, name := 0.0, ""
		for _, other := range pair.others {
			if speed := f.speed(other, pair.callers); speed > best {
				best, name = speed, other
			}
		}
		ratio := f.speed(pair.ours, pair.callers) / max(best, 1)
		list = append(list, target{
			name:   fmt.Sprintf("%s over %s, %d callers", pair.ours, name, pair.callers),
			wanted: fmt.Sprintf("≥ %.2f×", pair.atLeast), measured: fmt.Sprintf("%.2f×", ratio), met: ratio >= pair.atLeast,
		})
	}
	return list
}

// speed is how many checks a contender makes in a second.
func (f *findings) speed(name string, callers int) float64 {
	for _, r := range f.rows {
		if r.name == name {
			return r.samples[slices.Index(callerCounts, callers)].perSecond
		}
	}
	return 0
}

func atMost(name string, measured, most float64, unit string) target {
	return target{
		name: name, wanted: fmt.Sprintf("≤ %g %s", most, unit), measured: fmt.Sprintf("%.1f %s", measured, unit),
		met: measured <= most,
	}
}
