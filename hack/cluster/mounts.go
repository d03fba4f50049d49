// Copyright The Penstock Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
)

// hiddenDirs are folders that the node's programs write to whatever their
// configuration says. The node sees an empty file system of its own in their place.
var hiddenDirs = []string{"/run/containerd", "/var/lib/kubelet", "/var/lib/cni", "/var/log/containers"}

// privateMounts gives the calling process, alone in a new mount and PID namespace,
// mounts that the machine does not see, among them the processes of its PID namespace.
func privateMounts() error {
	if err := syscall.Mount("", "/", "", syscall.MS_REC|syscall.MS_SLAVE, ""); err != nil {
		return fmt.Errorf("part the node's mounts from the machine's: %w", err)
	}
	// Volumes are passed on to containers by propagation inside the node.
	if err := syscall.Mount("", "/", "", syscall.MS_REC|syscall.MS_SHARED, ""); err != nil {
		return fmt.Errorf("share mounts inside the node: %w", err)
	}
	if err := syscall.Mount("proc", "/proc", "proc", 0, ""); err != nil {
		return fmt.Errorf("mount the node's /proc: %w", err)
	}
	for _, dir := range hiddenDirs {
		if err := os.MkdirAll(dir, 0o755); err != nil {
			return fmt.Errorf("make a mount point: %w", err)
		}
		if err := syscall.Mount("node", dir, "tmpfs", 0, "mode=755"); err != nil {
			return fmt.Errorf("mount an empty %s: %w", dir, err)
		}
	}
	return nil
}

// removeMountPoints removes the folders that privateMounts made, unless they are used.
func removeMountPoints() {
	for _, dir := range hiddenDirs {
		os.Remove(dir)
	}
}

// removeState deletes the state folder. Nothing is mounted there unless by hand;
// deleting must not reach into such a mount.
func removeState() error {
	table, err := os.ReadFile("/proc/self/mountinfo")
	if err != nil {
		return fmt.Errorf("list mounts: %w", err)
	}
	for _, point := range mountsBelow(stateDir, string(table)) {
		if err := syscall.Unmount(point, syscall.MNT_DETACH); err != nil {
			return fmt.Errorf("unmount %s: %w", point, err)
		}
	}
	if err := os.RemoveAll(stateDir); err != nil && !errors.Is(err, os.ErrNotExist) {
		return fmt.Errorf("remove the node's state: %w", err)
	}
	return nil
}

// mountsBelow returns the mount points at or below dir, the last mounted first.
// The table is in the form of /proc/self/mountinfo (proc(5)).
func mountsBelow(dir, table string) []string {
	var points []string
	for line := range strings.Lines(table) {
		fields := strings.Fields(line)
		if len(fields) < 5 {
			continue
		}
		point := strings.ReplaceAll(fields[4], `\040`, " ")
		if inside, err := filepath.Rel(dir, point); err == nil && inside != ".." && !strings.HasPrefix(inside, "../") {
			points = append(points, point)
		}
	}
	slices.Reverse(points)
	return points
}
