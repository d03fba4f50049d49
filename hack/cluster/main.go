// Copyright The Penstock Authors.
// SPDX-License-Identifier: Apache-2.0

// Command cluster runs a single-node Kubernetes on Linux without Docker, images or
// downloads: every program is built from Go modules or comes from Debian. The node
// lives in PID, mount and network namespaces of its own. Nothing it does leaves
// them, and when its first process ends, the kernel ends and unmounts the rest.
//
//	cluster up        build what is missing, start the node, load bin/images
//	cluster down      stop the node and remove every trace of it
//	cluster load      load bin/images, or the archives named, into the node
//	cluster packages  install the Debian packages that the node and its images need
//
// Run it as root from the repository's root.
package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"runtime"
	"syscall"
)

const usage = "usage: cluster up | down | load [ARCHIVE...] | packages"

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := run(ctx, os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "cluster:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, args []string) error {
	if len(args) == 0 {
		return errors.New(usage)
	}
	if err := checkMachine(runtime.GOOS, os.Geteuid()); err != nil {
		return err
	}
	// A login shell of root may lack the folders of system programs.
	if err := os.Setenv("PATH", os.Getenv("PATH")+":/usr/sbin:/sbin"); err != nil {
		return fmt.Errorf("extend PATH: %w", err)
	}
	root, err := os.Getwd()
	if err != nil {
		return fmt.Errorf("find the repository's root: %w", err)
	}
	if _, err := os.Stat(filepath.Join(root, "hack/cluster/main.go")); err != nil {
		return fmt.Errorf("find hack/cluster: %w (run this from the repository's root)", err)
	}
	c := checkout{Root: root}
	switch verb, rest := args[0], args[1:]; verb {
	case "up":
		return exclusively(func() error { return up(ctx, c) })
	case "down":
		return exclusively(func() error { return down(ctx) })
	case "load":
		return load(ctx, c, rest)
	case "packages":
		return installPackages(ctx)
	case verbNode:
		return runNode(ctx, c)
	case verbProbe:
		return clusterReady(ctx)
	default:
		return fmt.Errorf("unknown verb %q; %s", verb, usage)
	}
}

func checkMachine(system string, user int) error {
	if system != "linux" {
		return fmt.Errorf("the local cluster runs on Linux only, not on %s; to use another cluster set E2E_KUBECONFIG and E2E_IMAGES", system)
	}
	if user != 0 {
		return errors.New("the local cluster needs root (namespaces, mounts, cgroups): run the command with sudo; to use another cluster set E2E_KUBECONFIG and E2E_IMAGES")
	}
	return nil
}
