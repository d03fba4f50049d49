// Copyright The Penstock Authors.
// SPDX-License-Identifier: Apache-2.0

package proxyrun

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
)

// Patience bounds every wait for a program; a test that fails waits this long.
const Patience = 20 * time.Second

// process is one running program.
type process struct {
	handle *os.Process
	output output
	// ended is closed when the program has ended, and err is how.
	ended chan struct{}
	err   error
}

// launch starts a program, which dies with the tests however they end.
func launch(tb testing.TB, environment []string, path string, arguments ...string) *process {
	tb.Helper()
	p := &process{ended: make(chan struct{})}
	started := make(chan error)
	go p.run(started, environment, path, arguments)
	if err := <-started; err != nil {
		tb.Fatalf("start %s: %v", path, err)
	}
	tb.Cleanup(func() {
		_ = p.handle.Kill()
		<-p.ended
		if tb.Failed() {
			tb.Logf("output of %s %s:\n%s", path, strings.Join(arguments, " "), p.output.String())
		}
	})
	return p
}

// run keeps one thread for the life of the process: the kernel ends the process when
// the thread that started it ends.
func (p *process) run(started chan<- error, environment []string, path string, arguments []string) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	command := exec.Command(path, arguments...)
	command.Env = append(os.Environ(), environment...)
	command.Stdout, command.Stderr = &p.output, &p.output
	command.SysProcAttr = dieWithParent()
	err := command.Start()
	p.handle = command.Process
	started <- err
	if err == nil {
		p.err = command.Wait()
	}
	close(p.ended)
}

// await returns once check holds; it fails when the program ends before.
func (p *process) await(tb testing.TB, what string, check func() error) {
	tb.Helper()
	deadline := time.After(Patience)
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	for err := check(); err != nil; err = check() {
		select {
		case <-p.ended:
			tb.Fatalf("%s: the program has ended: %v; its output:\n%s", what, p.err, p.output.String())
		case <-deadline:
			tb.Fatalf("%s: not within %v: %v; its output:\n%s", what, Patience, err, p.output.String())
		case <-tick.C:
		}
	}
}

// stop asks the program to end and returns how it did.
func (p *process) stop() error {
	if err := p.handle.Signal(syscall.SIGTERM); err != nil {
		return fmt.Errorf("ask it to end: %w", err)
	}
	select {
	case <-p.ended:
		return p.err
	case <-time.After(Patience):
		return fmt.Errorf("it did not end within %v of SIGTERM", Patience)
	}
}

// output is what a program prints, read while it does.
type output struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (o *output) Write(text []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.text.Write(text)
}

func (o *output) String() string {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.text.String()
}
