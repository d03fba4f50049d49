// Copyright The Penstock Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"fmt"
	"os"
	"strconv"
	"strings"
	"time"
)

const (
	// manyConnections is for throughput.
	manyConnections = 64
	// openShare is how much of its own capacity a proxy is offered in the open loop.
	openShare = 0.3
	// quietRate is the load at which memory is looked at once more.
	quietRate = 1000
)

// proxyLoads are the kinds of load, in their order: the open loop needs to know what the
// proxy can do.
var proxyLoads = []struct {
	name    string
	measure func(ctx context.Context, c *proxyContender, o options, got *proxySample) error
}{
	{"one connection", measureOne},
	{"64 connections", measureMany},
	{"an open loop at 30 %", measureOpen},
	{"1,000 requests per second", measureQuiet},
}

func measureOne(ctx context.Context, c *proxyContender, o options, got *proxySample) error {
	one, err := c.drive(ctx, 1, 0, o.length())
	got.oneP50, got.oneP99 = one.p50, one.p99
	return err
}

func measureMany(ctx context.Context, c *proxyContender, o options, got *proxySample) error {
	many, err := c.profiled(ctx, o.profiles, o.length(), func() (driven, error) { return c.drive(ctx, manyConnections, 0, o.length()) })
	got.perSecond, got.cpu, got.busy = many.perSecond, many.cpu, many.busy
	got.manyP50, got.manyP99, got.loadedBytes = many.p50, many.p99, many.resident
	return err
}

func measureOpen(ctx context.Context, c *proxyContender, o options, got *proxySample) error {
	open, err := c.drive(ctx, manyConnections, openShare*got.perSecond, o.length())
	got.openP50, got.openP99 = open.p50, open.p99
	return err
}

func measureQuiet(ctx context.Context, c *proxyContender, o options, got *proxySample) error {
	quiet, err := c.drive(ctx, manyConnections, quietRate, o.length()/2)
	got.idleBytes, got.quietBytes = float64(c.idle), quiet.resident
	return err
}

// driven is what one load of a proxy gave.
type driven struct {
	perSecond, cpu, busy, resident float64
	p50, p99                       time.Duration
}

// drive loads the proxy for a while after a warm-up; rate 0 is a closed loop.
func (c *proxyContender) drive(ctx context.Context, connections int, rate float64, length time.Duration) (driven, error) {
	l, err := openLoad(ctx, c.address, connections, c.want)
	if err != nil {
		return driven{}, err
	}
	defer l.close()
	loading, stop := context.WithCancel(ctx)
	finish := l.start(loading, rate)
	wait(ctx, length/4)
	l.latencies.empty()
	from, answered, spent := time.Now(), l.answered.Load(), c.spent()
	wait(ctx, length)
	took, requests, cpu := time.Since(from), float64(l.answered.Load()-answered), c.spent()-spent
	got := driven{
		perSecond: requests / took.Seconds(), busy: cpu.Seconds() / took.Seconds(),
		cpu: cpu.Seconds() * 1e6 / max(requests, 1), p50: l.latencies.quantile(500), p99: l.latencies.quantile(990),
	}
	stop()
	if err := finish(); err != nil {
		return driven{}, err
	}
	if c.process != nil {
		resident, err := residentBytes(c.process.Pid)
		got.resident = float64(resident)
		return got, err
	}
	return got, ctx.Err()
}

// spent is the proxy's CPU time; 0 of the app itself, which shares this process.
func (c *proxyContender) spent() time.Duration {
	if c.process == nil {
		return 0
	}
	// A process that has ended meanwhile shows in the answers that are missing.
	text, _ := os.ReadFile(fmt.Sprintf("/proc/%d/stat", c.process.Pid))
	_, rest, _ := strings.Cut(string(text), ") ")
	fields := strings.Fields(rest)
	const user, system = 11, 12
	if len(fields) <= system {
		return 0
	}
	ticks := int64(0)
	for _, field := range []string{fields[user], fields[system]} {
		number, _ := strconv.ParseInt(field, 10, 64)
		ticks += number
	}
	return time.Duration(ticks) * tick
}

// residentBytes is the memory of a process.
func residentBytes(pid int) (int64, error) {
	text := fieldOf(fmt.Sprintf("/proc/%d/status", pid), "VmRSS")
	kilobytes, err := strconv.ParseInt(strings.TrimSuffix(text, " kB"), 10, 64)
	if err != nil {
		return 0, fmt.Errorf("read the memory of process %d: %q: %w", pid, text, err)
	}
	return kilobytes << 10, nil
}
