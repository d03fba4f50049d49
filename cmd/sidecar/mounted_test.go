// Copyright The Penstock Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"log/slog"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/penstock-dev/penstock/internal/redisconn"
	"github.com/penstock-dev/penstock/internal/ruleset"
)

func TestMountedSecretIsReadAgainWhenItChanges(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	var logged bytes.Buffer
	var events []string
	m := newMounted(folder)
	m.log = slog.New(slog.NewJSONHandler(&logged, nil))
	m.offer = func(published ruleset.Published) error {
		events = append(events, "rules "+published.Revision)
		return nil
	}
	m.connect = func(settings redisconn.Settings) error {
		events = append(events, "store "+settings.Password)
		if settings.Password == "refused" {
			return errors.New("no good")
		}
		return nil
	}
	m.look() // nothing is mounted yet
	writeJSON(t, filepath.Join(folder, "store.json"), redisconn.Settings{Password: "one"})
	writeJSON(t, filepath.Join(folder, "rules.json"), ruleset.Published{Revision: "r1"})
	m.look()
	m.look()
	writeJSON(t, filepath.Join(folder, "store.json"), redisconn.Settings{Password: "two"})
	m.look()
	write(t, filepath.Join(folder, "store.json"), `{"password": "s3cret"`)
	m.look()
	writeJSON(t, filepath.Join(folder, "store.json"), redisconn.Settings{Password: "refused"})
	m.look()
	m.look()
	want := []string{"store one", "rules r1", "store two", "store refused"}
	if diff := cmp.Diff(want, events); diff != "" {
		t.Errorf("what was done (-want +got):\n%s", diff)
	}
	if lines := strings.Count(logged.String(), "\n"); lines != 2 {
		t.Errorf("%d lines were logged, want one for each bad content:\n%s", lines, logged.String())
	}
	if strings.Contains(logged.String(), "s3cret") {
		t.Errorf("a password was logged:\n%s", logged.String())
	}
}

func writeJSON(t *testing.T, path string, value any) {
	t.Helper()
	content, err := json.Marshal(value)
	if err != nil {
		t.Fatal(err)
	}
	write(t, path, string(content))
}
