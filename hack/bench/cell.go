// Copyright The Penstock Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"runtime"
	"sync"
	"sync/atomic"
	"syscall"
	"time"
)

// sample is one measurement of a contender.
type sample struct {
	perSecond float64
	// redisCPU and clientCPU are microseconds for each check.
	redisCPU, clientCPU float64
	p50, p99            time.Duration
	// perCall is how many checks went into one run of a script.
	perCall float64
	// redisBusy is how much of the time Redis was at work.
	redisBusy float64
}

// meter is where callers count what they do.
type meter struct {
	checks    atomic.Int64
	latencies histogram
}

// reading is what was spent up to a moment.
type reading struct {
	at     time.Time
	checks int64
	client time.Duration
	redis  usage
}

// measureCell has so many callers call at once, each as soon as its last call ended.
func measureCell(ctx context.Context, s *server, c contender, callers int, seconds float64) (sample, error) {
	ctx, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	runtime.GC()
	var m meter
	var running sync.WaitGroup
	for range callers {
		running.Go(func() {
			if err := call(ctx, c, &m); err != nil {
				stop(fmt.Errorf("%s with %d callers: %w", c.name, callers, err))
			}
		})
	}
	before, after, err := bracket(ctx, s, &m, time.Duration(seconds*float64(time.Second)))
	stop(nil)
	running.Wait()
	if cause := context.Cause(ctx); err == nil && !errors.Is(cause, context.Canceled) {
		err = cause
	}
	if err != nil {
		return sample{}, err
	}
	return sampleOf(before, after, &m), nil
}

// call calls until the context ends.
func call(ctx context.Context, c contender, m *meter) error {
	// No call is cut short: what it left behind would meet the next cell.
	whole := context.WithoutCancel(ctx)
	began := time.Now()
	for ctx.Err() == nil {
		if err := c.check(whole, rand.IntN(clients)); err != nil {
			return err
		}
		ended := time.Now()
		m.latencies.add(ended.Sub(began))
		m.checks.Add(1)
		began = ended
	}
	return nil
}

// bracket reads what is spent, after a warm-up and when the time is over.
func bracket(ctx context.Context, s *server, m *meter, length time.Duration) (before, after reading, err error) {
	wait(ctx, length/5)
	m.latencies.empty()
	if before, err = read(ctx, s, m); err != nil {
		return before, after, err
	}
	wait(ctx, length)
	after, err = read(ctx, s, m)
	return before, after, err
}

func wait(ctx context.Context, length time.Duration) {
	timer := time.NewTimer(length)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-ctx.Done():
	}
}

func read(ctx context.Context, s *server, m *meter) (reading, error) {
	spent, err := s.usage(context.WithoutCancel(ctx))
	if err != nil {
		return reading{}, err
	}
	var own syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &own); err != nil {
		return reading{}, fmt.Errorf("ask what this process spent: %w", err)
	}
	return reading{
		at: time.Now(), checks: m.checks.Load(), redis: spent,
		client: time.Duration(own.Utime.Nano() + own.Stime.Nano()),
	}, nil
}

func sampleOf(before, after reading, m *meter) sample {
	length, checks := after.at.Sub(before.at), float64(max(after.checks-before.checks, 1))
	redis := after.redis.cpu - before.redis.cpu
	each := func(spent time.Duration) float64 { return float64(spent) / float64(time.Microsecond) / checks }
	return sample{
		perSecond: checks / length.Seconds(), redisCPU: each(redis), clientCPU: each(after.client - before.client),
		p50: m.latencies.quantile(500), p99: m.latencies.quantile(990),
		perCall:   checks / float64(max(after.redis.calls-before.redis.calls, 1)),
		redisBusy: redis.Seconds() / length.Seconds(),
	}
}
