// Copyright The Penstock Authors.
// SPDX-License-Identifier: Apache-2.0

package history

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"
)

// taskVariable holds the task of a process that works for a test.
const taskVariable = "PENSTOCK_HISTORY_TASK"

// runTimeout bounds how long a history may take.
const runTimeout = 10 * time.Minute

// TestMain makes this program a worker when a test started it as one.
func TestMain(m *testing.M) {
	text, asWorker := os.LookupEnv(taskVariable)
	if !asWorker {
		os.Exit(m.Run())
	}
	var task Task
	err := json.Unmarshal([]byte(text), &task)
	if err == nil {
		err = Work(context.Background(), task, os.Stdin, os.Stdout)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// process is a running worker process.
type process struct {
	command *exec.Cmd
	in      io.WriteCloser
	out     *bufio.Scanner
	errors  bytes.Buffer
}

// record has processes work at the same time and returns what they recorded.
func record(t *testing.T, processes int, task Task) []Record {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), runTimeout)
	defer cancel()
	folder := t.TempDir()
	outputs := make([]string, processes)
	running := make([]*process, processes)
	for i := range running {
		own := task
		own.Process, own.Output = i, filepath.Join(folder, fmt.Sprint(i))
		outputs[i], running[i] = own.Output, start(ctx, t, own)
	}
	for _, p := range running {
		p.await(t, saysReady)
	}
	for _, p := range running {
		if _, err := fmt.Fprintln(p.in, "begin"); err != nil {
			t.Fatalf("tell a worker to begin: %v", err)
		}
	}
	for _, p := range running {
		p.await(t, saysDone)
	}
	for _, p := range running {
		_ = p.in.Close()
	}
	var records []Record
	for i, p := range running {
		if err := p.command.Wait(); err != nil {
			t.Fatalf("worker process %d: %v; it said:\n%s", i, err, p.errors.String())
		}
		read, err := ReadFile(outputs[i])
		if err != nil {
			t.Fatal(err)
		}
		records = append(records, read...)
	}
	return records
}

func start(ctx context.Context, t *testing.T, task Task) *process {
	t.Helper()
	text, err := json.Marshal(task)
	if err != nil {
		t.Fatal(err)
	}
	program, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	p := &process{command: exec.CommandContext(ctx, program)}
	p.command.Env = append(os.Environ(), taskVariable+"="+string(text))
	p.command.Stderr = &p.errors
	out, err := p.command.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if p.in, err = p.command.StdinPipe(); err != nil {
		t.Fatal(err)
	}
	p.out = bufio.NewScanner(out)
	if err := p.command.Start(); err != nil {
		t.Fatalf("start a worker process: %v", err)
	}
	t.Cleanup(func() { _ = p.command.Process.Kill() })
	return p
}

// await reads the next line of a process, which must be the word.
func (p *process) await(t *testing.T, word string) {
	t.Helper()
	if !p.out.Scan() || p.out.Text() != word {
		_ = p.command.Process.Kill()
		_ = p.command.Wait()
		t.Fatalf("a worker process said %q, want %q; its errors:\n%s", p.out.Text(), word, p.errors.String())
	}
}
