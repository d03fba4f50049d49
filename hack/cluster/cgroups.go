// Copyright The Penstock Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// addCgroups makes the parent of the pods' cgroups in every hierarchy, which the
// kubelet expects to find.
func addCgroups() error {
	hierarchies, err := cgroupHierarchies()
	if err != nil {
		return err
	}
	for _, h := range hierarchies {
		if err := os.MkdirAll(filepath.Join(h, cgroup), 0o755); err != nil {
			return fmt.Errorf("make the node's cgroup: %w", err)
		}
		if err := enableControllers(h); err != nil {
			return err
		}
	}
	return nil
}

// enableControllers passes every controller on to the node's cgroup where there is
// one hierarchy for all (cgroup v2); a hierarchy of version 1 is its own controller.
func enableControllers(hierarchy string) error {
	text, err := os.ReadFile(filepath.Join(hierarchy, "cgroup.controllers"))
	if errors.Is(err, os.ErrNotExist) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("list cgroup controllers: %w", err)
	}
	for controller := range strings.FieldsSeq(string(text)) {
		if err := os.WriteFile(filepath.Join(hierarchy, "cgroup.subtree_control"), []byte("+"+controller), 0); err != nil {
			return fmt.Errorf("pass the cgroup controller %s on to pods: %w (in a container: start it with a cgroup namespace of its own)", controller, err)
		}
	}
	return nil
}

// removeCgroups ends what still runs in the node's cgroups, and removes them.
func removeCgroups(ctx context.Context) error {
	hierarchies, err := cgroupHierarchies()
	if err != nil {
		return err
	}
	return waitFor(ctx, 10*time.Second, "the pods' cgroups to be empty", func(context.Context) error {
		var refused error
		for _, h := range hierarchies {
			refused = errors.Join(refused, removeCgroup(filepath.Join(h, cgroup)))
		}
		return refused
	})
}

// removeCgroup removes a cgroup and those below it, the deepest first.
func removeCgroup(path string) error {
	var dirs []string
	err := filepath.WalkDir(path, func(name string, entry fs.DirEntry, err error) error {
		if errors.Is(err, os.ErrNotExist) {
			return nil
		}
		if err == nil && entry.IsDir() {
			dirs = append(dirs, name)
		}
		return err
	})
	if err != nil {
		return fmt.Errorf("list cgroups: %w", err)
	}
	var refused error
	for _, dir := range slices.Backward(dirs) {
		killMembers(dir)
		if err := os.Remove(dir); err != nil && !errors.Is(err, os.ErrNotExist) {
			refused = fmt.Errorf("remove the cgroup: %w", err)
		}
	}
	return refused
}

// killMembers ends the processes of one cgroup of a pod: all of them are the node's.
func killMembers(dir string) {
	text, err := os.ReadFile(filepath.Join(dir, "cgroup.procs"))
	if err != nil {
		return
	}
	for field := range strings.FieldsSeq(string(text)) {
		if pid, err := strconv.Atoi(field); err == nil && pid > 1 {
			// It may have ended by itself; what stays is seen when the cgroup is not empty.
			_ = syscall.Kill(pid, syscall.SIGKILL)
		}
	}
}

func cgroupHierarchies() ([]string, error) {
	table, err := os.ReadFile("/proc/self/mountinfo")
	if err != nil {
		return nil, fmt.Errorf("list cgroup hierarchies: %w", err)
	}
	points := cgroupMounts(string(table))
	if len(points) == 0 {
		return nil, errors.New("no cgroup hierarchy is mounted: mount one at /sys/fs/cgroup")
	}
	return points, nil
}

// cgroupMounts returns where cgroup hierarchies are mounted. The second hierarchy of
// a hybrid machine, a cgroup v2 without controllers, is among them.
func cgroupMounts(table string) []string {
	var points []string
	for line := range strings.Lines(table) {
		mount, kind, found := strings.Cut(line, " - ")
		fields := strings.Fields(mount)
		if !found || len(fields) < 5 || !strings.HasPrefix(kind, "cgroup") {
			continue
		}
		points = append(points, fields[4])
	}
	return points
}
