// Copyright The Penstock Authors.
// SPDX-License-Identifier: Apache-2.0

package redistest

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"sync"
	"syscall"
	"time"
)

// startTimeout bounds how long a server may take until it accepts connections.
const startTimeout = 20 * time.Second

// errPortTaken says that another process took the port in the meantime.
var errPortTaken = errors.New("port taken")

// process is one running redis-server.
type process struct {
	handle *os.Process
	exited chan struct{}
	// drained is closed once all output has been read.
	drained chan struct{}
	// log holds the last lines of output, for messages.
	log tail
}

// launch starts the program, with variables added to its.variables, and returns
// once its output holds ready.
func launch(path, dir, ready string, variables []string, arguments ...string) (*process, error) {
	reader, writer, err := os.Pipe()
	if err != nil {
		return nil, fmt.Errorf("make a pipe for redis-server's output: %w", err)
	}
	p := &process{exited: make(chan struct{}), drained: make(chan struct{})}
	started := make(chan error)
	go p.run(started, path, dir, variables, arguments, writer)
	if err := <-started; err != nil {
		return nil, errors.Join(fmt.Errorf("start %s: %w", path, err), reader.Close())
	}
	accepting := make(chan struct{})
	go p.readLog(reader, ready, accepting)
	timer := time.NewTimer(startTimeout)
	defer timer.Stop()
	select {
	case <-accepting:
		return p, nil
	case <-p.exited:
		<-p.drained
		if strings.Contains(p.log.String(), "Address already in use") {
			return nil, errPortTaken
		}
		return nil, fmt.Errorf("start %s: it ended at once; its output:\n%s", path, p.log.String())
	case <-timer.C:
		p.kill()
		return nil, fmt.Errorf("start %s: not ready after %v; its output:\n%s", path, startTimeout, p.log.String())
	}
}

// run keeps one thread for the life of the process: the kernel ends the process
// when the thread that started it ends, which is how it dies with the tests.
func (p *process) run(started chan<- error, path, dir string, variables, arguments []string, output *os.File) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	command := exec.Command(path, arguments...)
	command.Dir, command.Stdout, command.Stderr = dir, output, output
	command.SysProcAttr = dieWithParent()
	command.Env = append(os.Environ(), variables...)
	err := command.Start()
	_ = output.Close()
	p.handle = command.Process
	started <- err
	if err != nil {
		return
	}
	// The exit status tells nothing: every server here is killed.
	_ = command.Wait()
	close(p.exited)
}

func (p *process) readLog(reader io.ReadCloser, ready string, accepting chan<- struct{}) {
	defer close(p.drained)
	defer reader.Close()
	seen := false
	for lines := bufio.NewScanner(reader); lines.Scan(); {
		p.log.add(lines.Text())
		if !seen && strings.Contains(lines.Text(), ready) {
			seen = true
			close(accepting)
		}
	}
}

func (p *process) kill() {
	_ = p.handle.Signal(syscall.SIGKILL)
	<-p.exited
}

// tail keeps the last lines that were added.
type tail struct {
	mu    sync.Mutex
	lines []string
}

func (t *tail) add(line string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.lines = append(t.lines, line)
	if len(t.lines) > 40 {
		t.lines = t.lines[1:]
	}
}

func (t *tail) String() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return strings.Join(t.lines, "\n")
}

// freePort returns a loopback port that was free a moment ago. Whoever takes it
// retries with another when it is taken meanwhile.
func freePort() (int, error) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return 0, fmt.Errorf("find a free port: %w", err)
	}
	port := listener.Addr().(*net.TCPAddr).Port
	return port, listener.Close()
}
