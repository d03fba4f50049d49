// Copyright The Penstock Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"io/fs"
	"log/slog"
	"path"
	"runtime/debug"
	"strconv"
	"strings"
)

const (
	cgroupOfProcess = "proc/self/cgroup"
	cgroupRoot      = "sys/fs/cgroup"
	// noLimit is above every limit that is meant: version 1 writes "none" as the
	// largest number of pages.
	noLimit = 1 << 60
)

// limitMemory has the garbage collector keep to nine tenths of the container's memory
// limit, which also counts what the Go runtime does not manage. GOMEMLIMIT wins.
func limitMemory(root fs.FS, getenv func(string) string, log *slog.Logger) {
	if getenv("GOMEMLIMIT") != "" {
		return
	}
	limit, limited := memoryLimit(root)
	if !limited {
		return
	}
	debug.SetMemoryLimit(limit / 10 * 9)
	log.Debug("Keeping to the memory limit", "containerBytes", limit, "goBytes", limit/10*9)
}

// memoryLimit is the least memory limit, in bytes, of the control groups that a process
// is in, of version 2 or 1. It is false where there is none, or no control groups.
func memoryLimit(root fs.FS) (limit int64, limited bool) {
	content, err := fs.ReadFile(root, cgroupOfProcess)
	if err != nil {
		return 0, false
	}
	limit = noLimit
	for line := range strings.Lines(string(content)) {
		// hierarchy:controllers:path; version 2 names no controllers.
		fields := strings.SplitN(strings.TrimSpace(line), ":", 3)
		if len(fields) != 3 {
			continue
		}
		switch {
		case fields[0] == "0" && fields[1] == "":
			limit = min(limit, leastLimit(root, cgroupRoot, fields[2], "memory.max"))
		case strings.Contains(","+fields[1]+",", ",memory,"):
			limit = min(limit, leastLimit(root, cgroupRoot+"/memory", fields[2], "memory.limit_in_bytes"))
		}
	}
	return limit, limit < noLimit
}

// leastLimit reads a group's limit and those of all above it. In a container the path
// may be the host's, of which only the top is to be seen.
func leastLimit(root fs.FS, mount, group, file string) int64 {
	limit := int64(noLimit)
	for at := path.Clean("/" + group); ; at = path.Dir(at) {
		if content, err := fs.ReadFile(root, path.Join(mount, at, file)); err == nil {
			// "max" is no number, and no limit.
			if number, err := strconv.ParseInt(strings.TrimSpace(string(content)), 10, 64); err == nil && number > 0 {
				limit = min(limit, number)
			}
		}
		if at == "/" {
			return limit
		}
	}
}
