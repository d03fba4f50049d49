// Copyright The Penstock Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
)

const (
	namespaceDir  = "/run/netns" // where ip keeps named namespaces
	namespacePath = namespaceDir + "/" + namespace
)

// addNetwork makes the node's network namespace. Its interface is a bridge without
// ports, since not every kernel has dummy devices; the default routes let programs
// that ask for the way out find an interface, but there is none.
func addNetwork(ctx context.Context) error {
	if err := ip(ctx, "", "netns", "add", namespace); err != nil {
		return err
	}
	return ip(ctx, strings.Join([]string{
		"link set lo up",
		"link add node0 type bridge",
		"address add " + nodeIPv4 + "/24 dev node0",
		"address add " + nodeIPv6 + "/64 dev node0 nodad",
		"link set node0 up",
		"route add default dev node0",
		"route add ::/0 dev node0",
	}, "\n"), "-netns", namespace, "-batch", "-")
}

// forward turns the namespace that the caller is in into a router for its pods.
func forward() error {
	for _, name := range []string{"ipv4/ip_forward", "ipv6/conf/all/forwarding"} {
		if err := os.WriteFile("/proc/sys/net/"+name, []byte("1"), 0); err != nil {
			return fmt.Errorf("let the node forward between pods: %w", err)
		}
	}
	return nil
}

// removeNetwork deletes the namespace and what ip made for its first one.
func removeNetwork(ctx context.Context) error {
	if _, err := os.Lstat(namespacePath); errors.Is(err, os.ErrNotExist) {
		return nil
	}
	if err := ip(ctx, "", "netns", "delete", namespace); err != nil {
		return err
	}
	left, err := filepath.Glob(namespaceDir + "/*")
	if err != nil || len(left) > 0 {
		return err
	}
	// Nobody else's namespace is there. ip makes the folder and its mount again when needed.
	if err := syscall.Unmount(namespaceDir, 0); err == nil {
		os.Remove(namespaceDir)
	}
	return nil
}

func ip(ctx context.Context, input string, args ...string) error {
	cmd := exec.CommandContext(ctx, "ip", args...)
	cmd.Stdin = strings.NewReader(input)
	if output, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("ip %s: %w: %s", strings.Join(args, " "), err, lastLines(string(output), 5))
	}
	return nil
}
