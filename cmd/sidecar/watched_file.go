// Copyright The Penstock Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"time"
)

// fileInterval is how often mounted files are read. The kubelet takes about a
// minute to refresh a volume, so that a few seconds more do not matter.
const fileInterval = 2 * time.Second

// maxFileBytes bounds a mounted file: a Secret holds at most 1 MiB.
const maxFileBytes = 4 << 20

// watchedFile is a file that others replace. Its content says whether it changed:
// the kubelet swaps a symbolic link, and times may be equal.
type watchedFile struct {
	path string
	last []byte
	read bool
}

// changed returns the content and true if it is not what was returned before. A
// file that is missing has not changed: it may appear later, and what was read
// before stays.
func (f *watchedFile) changed() ([]byte, bool, error) {
	info, err := os.Stat(f.path)
	if os.IsNotExist(err) {
		return nil, false, nil
	}
	if err != nil {
		return nil, false, fmt.Errorf("read %s: %w", f.path, err)
	}
	if info.Size() > maxFileBytes {
		return nil, false, fmt.Errorf("read %s: it has %d bytes, at most %d are read", f.path, info.Size(), maxFileBytes)
	}
	content, err := os.ReadFile(f.path)
	if err != nil {
		return nil, false, fmt.Errorf("read %s: %w", f.path, err)
	}
	if f.read && bytes.Equal(content, f.last) {
		return nil, false, nil
	}
	f.last, f.read = content, true
	return content, true, nil
}

// repeat calls f now and then at each interval until the context ends.
func repeat(ctx context.Context, interval time.Duration, f func()) {
	ticker := time.NewTicker(interval)
	defer ticker.Stop()
	for ctx.Err() == nil {
		f()
		select {
		case <-ctx.Done():
		case <-ticker.C:
		}
	}
}
