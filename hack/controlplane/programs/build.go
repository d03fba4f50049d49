// Copyright The Penstock Authors.
// SPDX-License-Identifier: Apache-2.0

package programs

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"time"
)

// Build makes dir hold a current binary of every program. It takes minutes when
// nothing is in the Go build cache, milliseconds when nothing changed; out shows
// which. Two builds into one folder wait for each other. root is the repository's
// root.
func Build(ctx context.Context, root, dir string, list []Program, out io.Writer) error {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return fmt.Errorf("make the folder for built programs: %w", err)
	}
	unlock, err := lock(filepath.Join(dir, ".lock"))
	if err != nil {
		return err
	}
	defer unlock()

	stale, stamps, err := notCurrent(ctx, root, dir, list)
	if err != nil {
		return err
	}
	shown := dir
	if relative, err := filepath.Rel(root, dir); err == nil {
		shown = relative
	}
	if len(stale) == 0 {
		fmt.Fprintf(out, "%s: all %d programs are current\n", shown, len(list))
		return nil
	}
	fmt.Fprintf(out, "%s: building %d of %d programs from Go modules (minutes the first time)\n", shown, len(stale), len(list))
	for i, p := range stale {
		done := progress(out, fmt.Sprintf("[%d/%d] %s", i+1, len(stale), p.Name))
		err := p.build(ctx, root, dir)
		done(err)
		if err != nil {
			return err
		}
		if err := p.record(dir, stamps[i]); err != nil {
			return err
		}
	}
	return nil
}

// notCurrent returns the programs to build, and for each the stamp of the new binary.
func notCurrent(ctx context.Context, root, dir string, list []Program) (stale []Program, stamps []string, err error) {
	for _, p := range list {
		compiler, err := compilerOf(ctx, filepath.Join(root, p.Dir))
		if err != nil {
			return nil, nil, err
		}
		stamp, err := p.stamp(root, compiler)
		if err != nil {
			return nil, nil, err
		}
		if !p.current(dir, stamp) {
			stale, stamps = append(stale, p), append(stamps, stamp)
		}
	}
	return stale, stamps, nil
}

// build compiles p beside its final place and then renames it, so that an
// interrupted build leaves the old binary and a running one can be replaced.
func (p Program) build(ctx context.Context, root, dir string) error {
	dir, err := filepath.Abs(dir)
	if err != nil {
		return fmt.Errorf("find the folder for %s: %w", p.Name, err)
	}
	partial := filepath.Join(dir, "."+p.Name+".partial")
	defer os.Remove(partial)
	cmd := goCommand(ctx, filepath.Join(root, p.Dir), p.arguments(partial)...)
	if p.CGO {
		cmd.Env = append(cmd.Env, "CGO_ENABLED=1")
	}
	if output, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("build %s (in %s, go %s): %w\n%s", p.Name, p.Dir, strings.Join(cmd.Args[1:], " "), err, tail(output))
	}
	if err := os.Rename(partial, filepath.Join(dir, p.Name)); err != nil {
		return fmt.Errorf("put %s in place: %w", p.Name, err)
	}
	return nil
}

func (p Program) arguments(output string) []string {
	args := []string{"build", "-trimpath"}
	if p.Tags != "" {
		args = append(args, "-tags", p.Tags)
	}
	return append(args, "-ldflags", p.LDFlags, "-o", output, p.Package)
}

// goCommand runs go in a tool module. Workspaces and flags of the caller would
// change what is built, so they are left out.
func goCommand(ctx context.Context, dir string, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, "go", args...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0", "GOWORK=off", "GOFLAGS=", "GOOS=", "GOARCH=")
	cmd.Cancel = func() error { return cmd.Process.Signal(os.Interrupt) }
	cmd.WaitDelay = 10 * time.Second
	return cmd
}

func compilerOf(ctx context.Context, dir string) (string, error) {
	cmd := goCommand(ctx, dir, "env", "GOVERSION", "GOOS", "GOARCH")
	output, err := cmd.Output()
	if err != nil {
		return "", fmt.Errorf("ask go for its version in %s: %w", dir, err)
	}
	return strings.Join(strings.Fields(string(output)), " "), nil
}

// tail keeps the end of a compiler's output, where the reason is.
func tail(output []byte) string {
	const most = 4000
	output = bytes.TrimSpace(output)
	if len(output) > most {
		output = append([]byte("…"), output[len(output)-most:]...)
	}
	return string(output)
}

// lock waits for the exclusive use of a folder; the kernel releases it when the
// process ends, however it ends.
func lock(path string) (unlock func(), err error) {
	f, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR, 0o644)
	if err != nil {
		return nil, fmt.Errorf("lock the folder for built programs: %w", err)
	}
	if err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX); err != nil {
		return nil, fmt.Errorf("lock %s: %w", path, err)
	}
	return func() { f.Close() }, nil
}
