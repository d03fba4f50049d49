// Copyright The Penstock Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"os"
	"path/filepath"
	"testing"
)

func TestWatchedFileChangesByContent(t *testing.T) {
	t.Parallel()
	file := watchedFile{path: filepath.Join(t.TempDir(), "f")}
	expect := func(step string, want string, wantChanged bool) {
		t.Helper()
		got, changed, err := file.changed()
		if err != nil || changed != wantChanged || string(got) != want {
			t.Errorf("%s: %q, %t, %v; want %q, %t", step, got, changed, err, want, wantChanged)
		}
	}
	expect("missing", "", false)
	write(t, file.path, "")
	expect("empty", "", true)
	write(t, file.path, "a")
	expect("written", "a", true)
	write(t, file.path, "a")
	expect("written again", "", false)
	if err := os.Remove(file.path); err != nil {
		t.Fatal(err)
	}
	expect("removed", "", false)
	write(t, file.path, "b")
	expect("back", "b", true)
}

func TestWatchedFileRefusesWhatIsTooLarge(t *testing.T) {
	t.Parallel()
	file := watchedFile{path: filepath.Join(t.TempDir(), "f")}
	write(t, file.path, "a")
	if err := os.Truncate(file.path, maxFileBytes+1); err != nil {
		t.Fatal(err)
	}
	if _, _, err := file.changed(); err == nil {
		t.Error("a file that is too large was read")
	}
}

// write replaces a file at once, as the kubelet does.
func write(t *testing.T, path, content string) {
	t.Helper()
	temporary := path + ".new"
	if err := os.WriteFile(temporary, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(temporary, path); err != nil {
		t.Fatal(err)
	}
}
