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
	"time"
)

// load imports image archives into the node, all of bin/images when none is named.
// An archive of an image that is there already replaces it: pods made from now on
// use the new one.
func load(ctx context.Context, c checkout, archives []string) error {
	if _, err := os.Stat(containerdSocket()); err != nil {
		return fmt.Errorf("find the node: %w (run make cluster)", err)
	}
	if len(archives) == 0 {
		found, err := filepath.Glob(filepath.Join(c.images(), "*.tar"))
		if err != nil {
			return fmt.Errorf("list image archives: %w", err)
		}
		if len(found) == 0 {
			return errors.New("bin/images holds no archive (run make images)")
		}
		archives = found
	}
	for _, archive := range archives {
		if err := importArchive(ctx, c, archive); err != nil {
			return err
		}
	}
	return nil
}

func importArchive(ctx context.Context, c checkout, archive string) error {
	ctx, cancel := context.WithTimeout(ctx, 2*time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, c.program("ctr"), "--address", containerdSocket(), "--namespace", "k8s.io", "images", "import", archive)
	if output, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("load %s into the node: %w\n%s", archive, err, lastLines(string(output), 10))
	}
	fmt.Println("  loaded", filepath.Base(archive))
	return nil
}
