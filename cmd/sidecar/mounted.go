// Copyright The Penstock Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"path/filepath"

	"github.com/penstock-dev/penstock/internal/redisconn"
	"github.com/penstock-dev/penstock/internal/ruleset"
)

// mounted is the Secret that the operator writes for a namespace's sidecars, as it
// is mounted. It may be missing at first and may change at any time.
type mounted struct {
	settings, snapshot watchedFile
	// connect is called with new settings of the store.
	connect func(redisconn.Settings) error
	// offer is called with a new snapshot of the rules.
	offer func(ruleset.Published) error
	log   *slog.Logger
}

func newMounted(folder string) *mounted {
	return &mounted{
		settings: watchedFile{path: filepath.Join(folder, "store.json")},
		snapshot: watchedFile{path: filepath.Join(folder, "rules.json")},
	}
}

// watch reads the Secret until the context ends. What cannot be read is logged
// once per content and changes nothing.
func (m *mounted) watch(ctx context.Context) {
	repeat(ctx, fileInterval, m.look)
}

func (m *mounted) look() {
	// The store comes first: the first request under the snapshot's rules is then
	// decided by it, if it can be reached.
	if err := load(&m.settings, m.connect); err != nil {
		m.log.Error("Settings of the store are of no use", "error", err)
	}
	if err := load(&m.snapshot, m.offer); err != nil {
		m.log.Error("Snapshot of the rules is of no use", "error", err)
	}
}

// load gives the decoded content of a file to use, if it changed.
func load[T any](file *watchedFile, use func(T) error) error {
	content, changed, err := file.changed()
	if err != nil || !changed {
		return err
	}
	var value T
	if err := json.Unmarshal(content, &value); err != nil {
		// The error would quote from a text that holds a password.
		return fmt.Errorf("decode %s: no JSON as the operator writes it; look at the Secret penstock-sidecar", file.path)
	}
	if err := use(value); err != nil {
		return fmt.Errorf("use %s: %w", file.path, err)
	}
	return nil
}
