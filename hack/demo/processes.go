// Copyright The Penstock Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"time"
)

// stopGrace is how long a process may take to end when asked to.
const stopGrace = 5 * time.Second

// processes are the programs that the demo runs, each with a log of its own.
type processes struct {
	logs    string
	mu      sync.Mutex
	running []*process
}

type process struct {
	name    string
	command *exec.Cmd
	log     string
	ended   chan struct{}
}

func newProcesses(scratch string) *processes { return &processes{logs: scratch} }

func (p *processes) start(name, program string, arguments, environment []string) error {
	log, err := os.Create(filepath.Join(p.logs, strings.ReplaceAll(name, "/", "-")+".log"))
	if err != nil {
		return err
	}
	defer log.Close()
	command := exec.Command(program, arguments...)
	command.Env, command.Stdout, command.Stderr = environment, log, log
	// A group of its own keeps an interrupt at the terminal from reaching it
	// before the demo has ended it in order; it dies with the demo all the same.
	command.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
	if err := command.Start(); err != nil {
		return fmt.Errorf("start %s: %w", name, err)
	}
	started := &process{name: name, command: command, log: log.Name(), ended: make(chan struct{})}
	go func() {
		_ = command.Wait()
		close(started.ended)
	}()
	p.mu.Lock()
	defer p.mu.Unlock()
	p.running = append(p.running, started)
	return nil
}

// firstEnded says which process of those whose names begin so has ended by itself.
func (p *processes) firstEnded(prefix string) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, running := range p.running {
		select {
		case <-running.ended:
			if strings.HasPrefix(running.name, prefix) {
				return fmt.Errorf("%s has ended: %s", running.name, running.command.ProcessState)
			}
		default:
		}
	}
	return nil
}

// stopAll ends the processes, the newest first.
func (p *processes) stopAll() {
	p.mu.Lock()
	defer p.mu.Unlock()
	for i := len(p.running) - 1; i >= 0; i-- {
		running := p.running[i]
		_ = running.command.Process.Signal(syscall.SIGTERM)
		select {
		case <-running.ended:
		case <-time.After(stopGrace):
			_ = running.command.Process.Kill()
			<-running.ended
		}
	}
	p.running = nil
}

// printTails shows the end of every log, for when something did not hold.
func (p *processes) printTails(out io.Writer) {
	const lines = 15
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, running := range p.running {
		text, err := os.ReadFile(running.log)
		if err != nil {
			continue
		}
		all := strings.Split(strings.TrimSpace(string(text)), "\n")
		fmt.Fprintf(out, "--- the last lines of %s\n%s\n", running.name, strings.Join(all[max(0, len(all)-lines):], "\n"))
	}
}
