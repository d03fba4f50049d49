// Copyright The Penstock Authors.
// SPDX-License-Identifier: Apache-2.0

package faults

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"syscall"
	"testing"
)

// workerOptions is the variable that has this program be a sidecar: its options as
// JSON. It then answers questions, a line each, until there are no more.
const workerOptions = "PENSTOCK_FAULTS_SIDECAR"

// The questions that a worker answers.
const (
	askReport = "report"
	askNormal = "normal"
	askEnd    = "end"
	askClose  = "close"
)

// answer is what a worker answers to any question.
type answer struct {
	Report report
	Normal bool
	// Left is what is left of the sidecar after it was closed.
	Left string
}

// beWorker answers questions until there are no more, and returns an exit code.
func beWorker(text string, questions io.Reader, answers io.Writer) int {
	var o options
	if err := json.Unmarshal([]byte(text), &o); err != nil {
		fmt.Fprintln(os.Stderr, "read the options of a sidecar:", err)
		return 2
	}
	s, err := startSidecar(o)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 2
	}
	encoder := json.NewEncoder(answers)
	for lines := bufio.NewScanner(questions); lines.Scan(); {
		var given answer
		switch lines.Text() {
		case askNormal:
			given.Normal = s.isNormal(context.Background())
		case askEnd:
			s.endLoad()
		case askClose:
			given.Left = s.close()
		}
		given.Report = s.read()
		if err := encoder.Encode(given); err != nil {
			fmt.Fprintln(os.Stderr, "answer:", err)
			return 2
		}
	}
	return 0
}

// worker is a sidecar in a process of its own.
type worker struct {
	t         *testing.T
	process   *os.Process
	questions io.Writer
	answers   *json.Decoder
}

var _ node = (*worker)(nil)

func startWorker(t *testing.T, o options) *worker {
	t.Helper()
	text, err := json.Marshal(o)
	if err != nil {
		t.Fatal(err)
	}
	program, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	command := exec.Command(program)
	command.Env, command.Stderr = append(os.Environ(), workerOptions+"="+string(text)), os.Stderr
	questions, err := command.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	answers, err := command.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := command.Start(); err != nil {
		t.Fatalf("start a sidecar in a process of its own: %v", err)
	}
	t.Cleanup(func() {
		// It ends when there are no more questions, but not while it is stopped.
		_ = questions.Close()
		_ = command.Process.Signal(syscall.SIGCONT)
		if err := command.Wait(); err != nil {
			t.Errorf("a sidecar in a process of its own ended with: %v", err)
		}
	})
	return &worker{t: t, process: command.Process, questions: questions, answers: json.NewDecoder(answers)}
}

func (w *worker) ask(question string) (given answer) {
	w.t.Helper()
	if _, err := fmt.Fprintln(w.questions, question); err != nil {
		w.t.Fatalf("ask a sidecar in another process: %v", err)
	}
	if err := w.answers.Decode(&given); err != nil {
		w.t.Fatalf("read what a sidecar in another process answers: %v", err)
	}
	return given
}

func (w *worker) read() report { return w.ask(askReport).Report }

func (w *worker) isNormal(context.Context) bool { return w.ask(askNormal).Normal }

func (w *worker) endLoad() { w.ask(askEnd) }

func (w *worker) close() string { return w.ask(askClose).Left }

// signal stops a worker or has it go on.
func (w *worker) signal(signal syscall.Signal) {
	w.t.Helper()
	if err := w.process.Signal(signal); err != nil {
		w.t.Fatalf("send %v to a sidecar: %v", signal, err)
	}
}
