// Copyright The Penstock Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"os"
	"runtime"
	"strconv"
	"syscall"

	"golang.org/x/sys/unix"
)

// dieWithParent ends a child when this process ends, however it ends.
func dieWithParent() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
}

// pinApart gives the process and this one a core each, and says how it went.
func pinApart(pid int) (string, error) {
	cores, err := allowedCores()
	if err != nil {
		return "", err
	}
	if len(cores) < 2 {
		return "Redis and the callers share one core", nil
	}
	if err := pin(pid, cores[len(cores)-1]); err != nil {
		return "", err
	}
	if err := pin(os.Getpid(), cores[0]); err != nil {
		return "", err
	}
	runtime.GOMAXPROCS(1)
	return "Redis on one core, the callers on another", nil
}

// pinProxyApart keeps a core for the proxies, and says how it went: Redis, the app and
// the load have to do with another one.
func pinProxyApart(redis int) (proxies, others int, how string, err error) {
	cores, err := allowedCores()
	if err != nil {
		return -1, -1, "", err
	}
	if len(cores) < 2 {
		return -1, -1, "All share one core", nil
	}
	for _, pid := range []int{redis, os.Getpid()} {
		if err := pin(pid, cores[0]); err != nil {
			return -1, -1, "", err
		}
	}
	runtime.GOMAXPROCS(1)
	return cores[len(cores)-1], cores[0], "The proxy on one core, Redis, the app and the load on another", nil
}

// allowedCores are those that this process may use.
func allowedCores() ([]int, error) {
	var allowed unix.CPUSet
	if err := unix.SchedGetaffinity(0, &allowed); err != nil {
		return nil, fmt.Errorf("ask for the cores of this process: %w", err)
	}
	var cores []int
	for core := range len(allowed) * 64 {
		if allowed.IsSet(core) {
			cores = append(cores, core)
		}
	}
	return cores, nil
}

// pin keeps all threads of a process on one core. Later ones inherit it.
func pin(pid, core int) error {
	var only unix.CPUSet
	only.Set(core)
	threads, err := os.ReadDir(fmt.Sprintf("/proc/%d/task", pid))
	if err != nil {
		return fmt.Errorf("list the threads of process %d: %w", pid, err)
	}
	for _, thread := range threads {
		id, err := strconv.Atoi(thread.Name())
		if err != nil {
			return fmt.Errorf("read a thread's number: %w", err)
		}
		if err := unix.SchedSetaffinity(id, &only); err != nil {
			return fmt.Errorf("pin process %d to core %d: %w", pid, core, err)
		}
	}
	return nil
}
