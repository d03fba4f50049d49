// Copyright The Penstock Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"
)

// callerCounts are how many call at once.
var callerCounts = []int{1, 16, 64, 256}

// row is what was measured of one contender, in the order of callerCounts.
type row struct {
	name    string
	ours    bool
	class   class
	samples []sample
}

// findings is all that was measured.
type findings struct {
	machine machine
	rows    []row
	// full is the TokenBucket in calls that are always full.
	full sample
	// refusal and leased are how long decisions take that need not ask the store.
	refusal, leased time.Duration
	footprint       []footprint
	// partial says that only some rows were asked for.
	partial bool
}

// measure measures everything, on a Redis that is empty.
func measure(ctx context.Context, o options, s *server, progress io.Writer) (findings, error) {
	contenders, err := open(ctx, s.address)
	if err != nil {
		return findings{}, err
	}
	defer func() {
		for _, c := range contenders {
			c.close()
		}
	}()
	found := findings{partial: o.Only != ""}
	if found.partial {
		contenders = slices.DeleteFunc(slices.Clone(contenders), func(c contender) bool {
			return !slices.Contains(strings.Split(o.Only, ","), c.name)
		})
	}
	if found.rows, err = measureRows(ctx, o, s, contenders, progress); err != nil || found.partial {
		return found, err
	}
	fmt.Fprintln(progress, "full calls")
	if found.full, err = measureFull(ctx, o, s, contenders[0]); err != nil {
		return found, err
	}
	fmt.Fprintln(progress, "decisions from memory")
	if found.refusal, err = measureRefusal(ctx, s, o.Seconds); err != nil {
		return found, err
	}
	if found.leased, err = measureLeased(ctx, s, o.Seconds); err != nil {
		return found, err
	}
	found.footprint, err = measureFootprints(ctx, s, o.Keys, progress)
	return found, err
}

// measureRows measures all contenders in turn, several times, so that a machine that
// is faster at one time than at another is so for all of them.
func measureRows(ctx context.Context, o options, s *server, contenders []contender, progress io.Writer) ([]row, error) {
	taken := make([][][]sample, len(contenders))
	for i := range taken {
		taken[i] = make([][]sample, len(callerCounts))
	}
	for round := range o.Rounds {
		for k, callers := range callerCounts {
			fmt.Fprintf(progress, "round %d of %d, %d callers\n", round+1, o.Rounds, callers)
			for i, c := range contenders {
				if err := s.empty(ctx); err != nil {
					return nil, err
				}
				one, err := measureCell(ctx, s, c, callers, o.Seconds)
				if err != nil {
					return nil, err
				}
				taken[i][k] = append(taken[i][k], one)
			}
		}
	}
	rows := make([]row, len(contenders))
	for i, c := range contenders {
		rows[i] = row{name: c.name, ours: c.ours, class: c.class}
		for _, samples := range taken[i] {
			rows[i].samples = append(rows[i].samples, median(samples))
		}
	}
	return rows, nil
}

// measureFull has more callers than any two calls hold, so that all calls are full.
func measureFull(ctx context.Context, o options, s *server, c contender) (sample, error) {
	var samples []sample
	for range o.Rounds {
		one, err := measureCell(ctx, s, c, 512, o.Seconds)
		if err != nil {
			return sample{}, err
		}
		samples = append(samples, one)
	}
	return median(samples), nil
}

// median is the sample of the medians.
func median(samples []sample) sample {
	return sample{
		perSecond: middle(samples, func(s sample) float64 { return s.perSecond }),
		redisCPU:  middle(samples, func(s sample) float64 { return s.redisCPU }),
		clientCPU: middle(samples, func(s sample) float64 { return s.clientCPU }),
		perCall:   middle(samples, func(s sample) float64 { return s.perCall }),
		redisBusy: middle(samples, func(s sample) float64 { return s.redisBusy }),
		p50:       middle(samples, func(s sample) time.Duration { return s.p50 }),
		p99:       middle(samples, func(s sample) time.Duration { return s.p99 }),
	}
}

func middle[S any, T float64 | time.Duration](samples []S, of func(S) T) T {
	var values []T
	for _, s := range samples {
		values = append(values, of(s))
	}
	slices.Sort(values)
	return values[len(values)/2]
}
