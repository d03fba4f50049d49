// Copyright The Penstock Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"fmt"
	"os"
	"runtime"
	"strconv"
	"strings"
	"time"
)

// machine is where it was measured: nothing that names it.
type machine struct {
	processor, kernel, redis, allocator, golang, cores, date string
	count                                                    int
	// others is how much of all cores other processes took while it was measured,
	// in percent.
	others float64
}

func describeMachine(ctx context.Context, s *server, cores string, others float64) (machine, error) {
	text, err := s.client.InfoMap(ctx, "server", "memory").Result()
	if err != nil {
		return machine{}, fmt.Errorf("ask Redis for its version: %w", err)
	}
	return machine{
		processor: fieldOf("/proc/cpuinfo", "model name"), kernel: kernelVersion(),
		redis: text["Server"]["redis_version"], allocator: text["Memory"]["mem_allocator"], golang: runtime.Version(),
		cores: cores, others: others, count: coreCount(), date: time.Now().UTC().Format(time.DateOnly),
	}, nil
}

// fieldOf is the first value of a name in a file of "name : value" lines.
func fieldOf(path, name string) string {
	content, err := os.ReadFile(path)
	if err != nil {
		return "unknown"
	}
	for line := range strings.Lines(string(content)) {
		if key, value, found := strings.Cut(line, ":"); found && strings.TrimSpace(key) == name {
			return strings.TrimSpace(value)
		}
	}
	return "unknown"
}

// kernelVersion is without what a builder appended to it.
func kernelVersion() string {
	content, err := os.ReadFile("/proc/sys/kernel/osrelease")
	if err != nil {
		return runtime.GOOS
	}
	version, _, _ := strings.Cut(strings.TrimSpace(string(content)), "-")
	return runtime.GOOS + " " + version
}

// coreCount is of the machine, not only what this process is pinned to.
func coreCount() int {
	content, err := os.ReadFile("/proc/cpuinfo")
	if err != nil {
		return runtime.NumCPU()
	}
	return max(1, strings.Count(string(content), "\nprocessor\t")+1)
}

// bystanders measures what other processes take of the machine.
type bystanders struct {
	since, busy, ours time.Duration
}

// idleFields are the numbers of the fields of /proc/stat that are no work: idle and
// iowait. Those from guests on are counted in others.
const (
	firstIdle, lastIdle = 3, 4
	lastField           = 7
	tick                = 10 * time.Millisecond
)

func watchBystanders(ctx context.Context, s *server) bystanders {
	var b bystanders
	content, err := os.ReadFile("/proc/stat")
	if err != nil {
		return b
	}
	line, _, _ := strings.Cut(string(content), "\n")
	for i, field := range strings.Fields(line)[1:] {
		ticks, err := strconv.ParseInt(field, 10, 64)
		if err != nil || i > lastField {
			break
		}
		spent := time.Duration(ticks) * tick
		b.since += spent
		if i < firstIdle || i > lastIdle {
			b.busy += spent
		}
	}
	if used, err := read(ctx, s, new(meter)); err == nil {
		b.ours = used.client + used.redis.cpu
	}
	return b
}

// share is what others took between two moments, in percent.
func (b bystanders) share(later bystanders) float64 {
	all, busy := later.since-b.since, later.busy-b.busy
	if all <= 0 {
		return 0
	}
	return 100 * max(0, float64(busy-(later.ours-b.ours))) / float64(all)
}
