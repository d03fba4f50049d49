// Copyright The Penstock Authors.
// SPDX-License-Identifier: Apache-2.0

// Command images builds OCI images as archives, without Docker and without a
// registry, for the local cluster: see the table in table.go. An image depends on
// its contents only, so building again what did not change gives the same digest.
//
//	images [-root DIR] [-out DIR] [-version VERSION] [NAME...]
//
// Without names it builds all of the table.
package main

import (
	"cmp"
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"time"
)

type options struct {
	Root    string // the repository's root
	Out     string // folder for the archives
	Version string // stamped into the programs
	Names   []string
}

func main() {
	var o options
	flag.StringVar(&o.Root, "root", "../..", "the repository's root")
	flag.StringVar(&o.Out, "out", "../../bin/images", "folder for the archives")
	flag.StringVar(&o.Version, "version", cmp.Or(os.Getenv("VERSION"), "dev"), "version to stamp into manager and sidecar; default: the variable VERSION, else dev")
	flag.Parse()
	o.Names = flag.Args()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := run(ctx, o); err != nil {
		fmt.Fprintln(os.Stderr, "images:", err)
		os.Exit(1)
	}
}

// run builds what it can: an image that fails does not keep the others from being built.
func run(ctx context.Context, o options) error {
	list, err := chosen(o.Names)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(o.Out, 0o755); err != nil {
		return fmt.Errorf("make the folder for images: %w", err)
	}
	work, err := os.MkdirTemp("", "penstock-images-")
	if err != nil {
		return fmt.Errorf("make a folder for programs: %w", err)
	}
	defer os.RemoveAll(work)
	fmt.Printf("images for linux/%s, archives in %s\n", runtime.GOARCH, filepath.Clean(o.Out))
	var failed error
	for _, i := range list {
		began := time.Now()
		archive := filepath.Join(o.Out, i.Name+".tar")
		size, err := build(ctx, o, i, work, archive)
		if err != nil {
			failed = errors.Join(failed, fmt.Errorf("image %s: %w", i.Name, err))
			continue
		}
		fmt.Printf("%-28s %5.1f MB compressed, built in %s\n", i.reference(), float64(size)/1e6, time.Since(began).Round(100*time.Millisecond))
	}
	return failed
}

func chosen(names []string) ([]image, error) {
	if len(names) == 0 {
		return images, nil
	}
	var list []image
	for _, name := range names {
		at := slices.IndexFunc(images, func(i image) bool { return i.Name == name })
		if at < 0 {
			return nil, fmt.Errorf("no image %q; there are %s", name, strings.Join(allNames(), ", "))
		}
		list = append(list, images[at])
	}
	return list, nil
}

func allNames() []string {
	var names []string
	for _, i := range images {
		names = append(names, i.Name)
	}
	return names
}
