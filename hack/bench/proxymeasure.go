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
	"strings"
	"time"
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

// measure measures all rows in rounds, and in a round one kind of load after the other, so
// that what the machine does besides meets all of them alike: what is compared was
// measured seconds apart. The medians count.
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
		if round.evalsha, err = s.measureScript(ctx, redis, o.Seconds); err != nil {
			return nil, err
		}
		for _, load := range proxyLoads {
			fmt.Fprintf(progress, "round %d of %d: %s\n", number+1, o.Rounds, load.name)
			for _, c := range contenders {
				got := round.rows[c.name]
				if err := load.measure(ctx, c, o, &got); err != nil {
					return nil, fmt.Errorf("%s, %s: %w", c.name, load.name, err)
				}
				round.rows[c.name] = got
			}
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
		quietBytes: of(func(s proxySample) float64 { return s.quietBytes }),
	}
}
