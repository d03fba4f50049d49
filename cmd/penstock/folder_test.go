// Copyright The Penstock Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestFilesInAFolder(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	for _, name := range []string{"b.yaml", "a.yml", "in/c.json", "in/d.txt", ".git/e.yaml", "f.yaml.bak"} {
		write(t, filepath.Join(folder, name), "")
	}
	if err := errors.Join(
		syscall.Mkfifo(filepath.Join(folder, "pipe.yaml"), 0o600),
		os.Symlink("/dev/zero", filepath.Join(folder, "zero.yaml")),
		os.Symlink(".", filepath.Join(folder, "in", "loop")),
		os.Symlink("in/d.txt", filepath.Join(folder, "mounted.yaml")),
	); err != nil {
		t.Fatal(err)
	}
	files, err := filesIn(folder)
	if err != nil {
		t.Fatal(err)
	}
	for i := range files {
		files[i] = strings.TrimPrefix(files[i], folder+"/")
	}
	if diff := cmp.Diff([]string{"a.yml", "b.yaml", "in/c.json", "mounted.yaml"}, files); diff != "" {
		t.Errorf("files differ (-want +got):\n%s", diff)
	}
}

func TestAFolderIsBounded(t *testing.T) {
	t.Parallel()
	many, large := t.TempDir(), t.TempDir()
	for i := range maxFolderFiles + 1 {
		write(t, filepath.Join(many, fmt.Sprint(i)+".yaml"), "")
	}
	for _, name := range []string{"a.yaml", "b.yaml"} {
		write(t, filepath.Join(large, name), "")
		if err := os.Truncate(filepath.Join(large, name), maxFolderBytes); err != nil {
			t.Fatal(err)
		}
	}
	for _, folder := range []string{many, large} {
		if files, err := filesIn(folder); !errors.Is(err, errUnreadable) || !strings.Contains(err.Error(), "name a folder within") {
			t.Errorf("%d files, error %v; want one that says how much a folder may hold", len(files), err)
		}
	}
}

// TestCheckOfAPipeEndsWithCtrlC has a pipe to which nobody writes.
func TestCheckOfAPipeEndsWithCtrlC(t *testing.T) {
	t.Parallel()
	pipe := filepath.Join(t.TempDir(), "pipe")
	if err := syscall.Mkfifo(pipe, 0o600); err != nil {
		t.Fatal(err)
	}
	ctx, interrupt := context.WithCancel(t.Context())
	defer interrupt()
	ended, printed := make(chan int, 1), &bytes.Buffer{}
	go func() { ended <- execute(ctx, []string{"check", pipe}, printed, printed) }()
	// Opening waits for the reader.
	writer, err := os.OpenFile(pipe, os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer writer.Close()
	interrupt()
	if code := <-ended; code != exitFailed || !strings.Contains(printed.String(), pipe+": interrupted") {
		t.Errorf("exit code %d and %q, want %d and that it was interrupted", code, printed, exitFailed)
	}
}

func write(t *testing.T, file, text string) {
	t.Helper()
	if err := errors.Join(os.MkdirAll(filepath.Dir(file), 0o700), os.WriteFile(file, []byte(text), 0o600)); err != nil {
		t.Fatal(err)
	}
}
