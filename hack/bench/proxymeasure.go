// Copyright The Penstock Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
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

// proxySample is one measurement of a proxy.
type proxySample struct {
	perSecond float64
	// cpu is milliseconds of the proxy for each 1,000 requests; 0 of the app itself.
	cpu float64
	// busy is how much of its core the proxy used at 64 connections.
	busy                               float64
	manyP50, manyP99, oneP50, oneP99   time.Duration
	openP50, openP99                   time.Duration
	idleBytes, quietBytes, loadedBytes float64
}

type proxyRow struct {
	name string
	proxySample
}

// proxyRound is what one round gave, by the names of the rows.
type proxyRound struct {
	rows map[string]proxySample
	// evalsha is a bare script call with one caller.
	evalsha sample
}

// proxyFindings is all that was measured.
type proxyFindings struct {
	machine machine
	// rows have the medians of the rounds.
	rows   []proxyRow
	rounds []proxyRound
	// evalsha is a bare script call with one caller.
	evalsha sample
	// spent is the CPU time of all proxies together.
	spent   time.Duration
	partial bool
}

// runProxies measures the request path and prints it.
func runProxies(ctx context.Context, o options, out, progress io.Writer) error {
	redis, err := startServer(ctx)
	if err != nil {
		return err
	}
	defer redis.stop()
	scratch, err := os.MkdirTemp("", "penstock-bench-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(scratch)
	if o.Profile != "" {
		o.profiles = scratch
	}
	s := &stand{scratch: scratch, sidecar: filepath.Join(scratch, "sidecar"), redis: redis.address}
	build := exec.CommandContext(ctx, "go", "build", "-C", o.Root, "-trimpath", "-ldflags=-s -w", "-o", s.sidecar, "./cmd/sidecar")
	// As in its image: the system's library is more than a megabyte of memory.
	build.Env = append(os.Environ(), "CGO_ENABLED=0")
	if output, err := build.CombinedOutput(); err != nil {
		return fmt.Errorf("build the sidecar: %w\n%s", err, output)
	}
	cores := ""
	if s.core, s.others, cores, err = pinProxyApart(redis.pid()); err != nil {
		return err
	}
	if s.app, err = startApp(ctx); err != nil {
		return err
	}
	began, before := time.Now(), watchBystanders(ctx, redis)
	found, err := s.measure(ctx, o, redis, progress)
	if err != nil {
		return err
	}
	if o.Profile != "" {
		if err := mergeProfiles(ctx, o.profiles, o.Profile); err != nil {
			return err
		}
	}
	others := before.share(watchBystanders(ctx, redis))
	if found.machine, err = describeMachine(ctx, redis, cores, others); err != nil {
		return err
	}
	// The proxies are no bystanders.
	found.machine.others -= 100 * found.spent.Seconds() / time.Since(began).Seconds() / float64(found.machine.count)
	text := found.markdown()
	if _, err := io.WriteString(out, text); err != nil {
		return fmt.Errorf("print what was measured: %w", err)
	}
	if o.Markdown != "" {
		return replaceBetween(o.Markdown, proxyPartBegins, proxyPartEnds, text)
	}
	return nil
}

// measure measures all rows in rounds, so that what the machine does besides meets
// all of them alike. The medians count.
func (s *stand) measure(ctx context.Context, o options, redis *server, progress io.Writer) (*proxyFindings, error) {
	found := &proxyFindings{partial: o.Only != ""}
	contenders, err := s.open(ctx, o)
	defer func() {
		for _, c := range contenders {
			c.close()
		}
	}()
	if err != nil {
		return nil, err
	}
	for number := range o.Rounds {
		round := proxyRound{rows: map[string]proxySample{}}
		for _, c := range contenders {
			fmt.Fprintf(progress, "round %d of %d: %s\n", number+1, o.Rounds, c.name)
			if round.rows[c.name], err = c.measure(ctx, o); err != nil {
				return nil, fmt.Errorf("%s: %w", c.name, err)
			}
		}
		if round.evalsha, err = s.measureScript(ctx, redis, o.Seconds); err != nil {
			return nil, err
		}
		found.rounds = append(found.rounds, round)
	}
	for _, c := range contenders {
		found.spent += c.spent()
		found.rows = append(found.rows, proxyRow{c.name, medianOf(c.name, found.rounds)})
	}
	found.evalsha = sample{
		p50: middle(found.rounds, func(r proxyRound) time.Duration { return r.evalsha.p50 }),
		p99: middle(found.rounds, func(r proxyRound) time.Duration { return r.evalsha.p99 }),
	}
	return found, nil
}

// measureScript measures a bare script call of one caller, from the core of the
// proxies: to call from one core to another takes longer than within one.
func (s *stand) measureScript(ctx context.Context, redis *server, seconds float64) (sample, error) {
	script, err := openGoRedis(ctx, redis.address)
	if err != nil {
		return sample{}, err
	}
	defer script.close()
	if s.core < 0 {
		return measureCell(ctx, redis, script, 1, seconds)
	}
	if err := pin(os.Getpid(), s.core); err != nil {
		return sample{}, err
	}
	measured, err := measureCell(ctx, redis, script, 1, seconds)
	return measured, errors.Join(err, pin(os.Getpid(), s.others))
}

// open starts the contenders that are asked for.
func (s *stand) open(ctx context.Context, o options) ([]*proxyContender, error) {
	var opened []*proxyContender
	for _, row := range proxyRows() {
		if o.Only != "" && !slices.Contains(strings.Split(o.Only, ","), row.name) {
			continue
		}
		c, err := s.startContender(ctx, row.name, row.want, row.start)
		if err != nil {
			return opened, err
		}
		opened = append(opened, c)
	}
	return opened, nil
}

// measure takes one sample: one connection, then many, then an open loop.
func (c *proxyContender) measure(ctx context.Context, o options) (proxySample, error) {
	got := proxySample{idleBytes: float64(c.idle)}
	length := time.Duration(o.Seconds * float64(time.Second))
	one, err := c.drive(ctx, 1, 0, length)
	if err != nil {
		return got, err
	}
	got.oneP50, got.oneP99 = one.p50, one.p99
	many, err := c.profiled(ctx, o.profiles, length, func() (driven, error) { return c.drive(ctx, manyConnections, 0, length) })
	if err != nil {
		return got, err
	}
	got.perSecond, got.cpu, got.busy = many.perSecond, many.cpu, many.busy
	got.manyP50, got.manyP99, got.loadedBytes = many.p50, many.p99, many.resident
	open, err := c.drive(ctx, manyConnections, openShare*many.perSecond, length)
	if err != nil {
		return got, err
	}
	got.openP50, got.openP99 = open.p50, open.p99
	quiet, err := c.drive(ctx, manyConnections, quietRate, length/2)
	got.quietBytes = quiet.resident
	return got, err
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

// medianOf has the median of each value of a row.
func medianOf(name string, rounds []proxyRound) proxySample {
	of := func(value func(proxySample) float64) float64 {
		return middle(rounds, func(r proxyRound) float64 { return value(r.rows[name]) })
	}
	latency := func(value func(proxySample) time.Duration) time.Duration {
		return middle(rounds, func(r proxyRound) time.Duration { return value(r.rows[name]) })
	}
	return proxySample{
		perSecond: of(func(s proxySample) float64 { return s.perSecond }), cpu: of(func(s proxySample) float64 { return s.cpu }),
		busy:    of(func(s proxySample) float64 { return s.busy }),
		manyP50: latency(func(s proxySample) time.Duration { return s.manyP50 }), manyP99: latency(func(s proxySample) time.Duration { return s.manyP99 }),
		oneP50: latency(func(s proxySample) time.Duration { return s.oneP50 }), oneP99: latency(func(s proxySample) time.Duration { return s.oneP99 }),
		openP50: latency(func(s proxySample) time.Duration { return s.openP50 }), openP99: latency(func(s proxySample) time.Duration { return s.openP99 }),
		idleBytes: of(func(s proxySample) float64 { return s.idleBytes }), loadedBytes: of(func(s proxySample) float64 { return s.loadedBytes }),
		// The first look is the one at a process that has not been loaded to its limit
		// many times over.
		quietBytes: of(func(s proxySample) float64 { return s.quietBytes }),
	}
}
