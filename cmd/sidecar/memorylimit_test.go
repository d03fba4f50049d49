// Copyright The Penstock Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"log/slog"
	"math"
	"runtime/debug"
	"testing"
	"testing/fstest"
)

// files is a machine's file system with these files.
func files(contents map[string]string) fstest.MapFS {
	root := fstest.MapFS{}
	for name, content := range contents {
		root[name] = &fstest.MapFile{Data: []byte(content)}
	}
	return root
}

func TestMemoryLimit(t *testing.T) {
	t.Parallel()
	cases := map[string]struct {
		files map[string]string
		want  int64 // 0: none
	}{
		"version 2 in a container": {files: map[string]string{"proc/self/cgroup": "0::/\n", "sys/fs/cgroup/memory.max": "104857600\n"}, want: 100 << 20},
		"version 2 without limit":  {files: map[string]string{"proc/self/cgroup": "0::/\n", "sys/fs/cgroup/memory.max": "max\n"}},
		"version 2, the group above has less": {files: map[string]string{
			"proc/self/cgroup": "0::/pods/web\n", "sys/fs/cgroup/pods/web/memory.max": "2000\n", "sys/fs/cgroup/pods/memory.max": "1000\n",
		}, want: 1000},
		"version 1": {files: map[string]string{
			"proc/self/cgroup": "4:cpu,cpuacct:/x\n3:memory:/x\n", "sys/fs/cgroup/memory/x/memory.limit_in_bytes": "4096\n",
		}, want: 4096},
		"version 1 in a container, with the host's path": {files: map[string]string{
			"proc/self/cgroup": "3:memory:/kubepods/abc\n0::/\n", "sys/fs/cgroup/memory/memory.limit_in_bytes": "8192\n",
		}, want: 8192},
		"version 1 without limit": {files: map[string]string{"proc/self/cgroup": "3:memory:/\n", "sys/fs/cgroup/memory/memory.limit_in_bytes": "9223372036854771712\n"}},
		"no control groups":       {files: map[string]string{}},
		"odd lines":               {files: map[string]string{"proc/self/cgroup": "memory\n\n0:\n", "sys/fs/cgroup/memory.max": "1"}},
		"odd limit":               {files: map[string]string{"proc/self/cgroup": "0::/\n", "sys/fs/cgroup/memory.max": "-5"}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got, limited := memoryLimit(files(tc.files))
			if limited != (tc.want > 0) || limited && got != tc.want {
				t.Errorf("limit is %d, %t; want %d", got, limited, tc.want)
			}
		})
	}
}

// TestLimitMemoryTakesNineTenths runs alone: the limit is that of the process.
func TestLimitMemoryTakesNineTenths(t *testing.T) {
	before := debug.SetMemoryLimit(-1)
	t.Cleanup(func() { debug.SetMemoryLimit(before) })
	root := files(map[string]string{"proc/self/cgroup": "0::/\n", "sys/fs/cgroup/memory.max": "1073741820"})
	log := slog.New(slog.DiscardHandler)
	debug.SetMemoryLimit(math.MaxInt64)
	limitMemory(root, func(string) string { return "900MiB" }, log)
	if got := debug.SetMemoryLimit(-1); got != math.MaxInt64 {
		t.Errorf("limit is %d although GOMEMLIMIT is set", got)
	}
	limitMemory(root, func(string) string { return "" }, log)
	if got := debug.SetMemoryLimit(-1); got != 966367638 {
		t.Errorf("limit is %d, want nine tenths of 1073741820", got)
	}
}

// It sets what is the process': no other test may do so at the same time.
func TestGarbageIsCollectedHalfAsOften(t *testing.T) {
	before := debug.SetGCPercent(77)
	t.Cleanup(func() { debug.SetGCPercent(before) })
	collectLess(func(string) string { return "50" })
	if got := debug.SetGCPercent(77); got != 77 {
		t.Errorf("with GOGC set, the percentage is %d, want it left alone", got)
	}
	collectLess(func(string) string { return "" })
	if got := debug.SetGCPercent(77); got != garbagePercent {
		t.Errorf("without GOGC the percentage is %d, want %d", got, garbagePercent)
	}
}
