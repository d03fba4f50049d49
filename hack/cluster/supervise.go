// Copyright The Penstock Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"syscall"
	"time"
)

// verbNode is how up starts the first process of the node.
const verbNode = "node"

// event is one line of the report from the node's first process to up.
type event struct {
	Step   string `json:",omitempty"` // what is under way
	Ready  bool   `json:",omitempty"` // the node serves
	Failed string `json:",omitempty"` // why it will not
	Log    string `json:",omitempty"` // component whose log tells more
}

// reportDescriptor is the file on which the node's first process writes events.
const reportDescriptor = 3

// runNode is the first process of the node's PID namespace: it starts the components
// in order and collects what ends. When it returns, the kernel ends everything else.
// It returns when ctx ends, or with an error when a component ends or is not ready in time.
func runNode(ctx context.Context, c checkout) error {
	if os.Getpid() != 1 {
		return errors.New("the verb node is for cluster up: run that instead")
	}
	report := os.NewFile(reportDescriptor, "report")
	s := &supervisor{checkout: c, report: json.NewEncoder(report), running: map[int]string{}}
	if err := s.prepare(); err != nil {
		return s.fail(err, "")
	}
	if log, err := s.startAll(ctx); err != nil {
		return s.fail(err, log)
	}
	if err := s.report.Encode(event{Ready: true}); err != nil {
		return fmt.Errorf("report to the one who started the node: %w", err)
	}
	report.Close()
	for {
		select {
		case <-ctx.Done():
			return nil
		case e := <-s.exits:
			if name, ok := s.running[e.pid]; ok {
				return fmt.Errorf("%s ended: %s", name, e.status)
			}
		}
	}
}

type supervisor struct {
	checkout checkout
	report   *json.Encoder
	running  map[int]string // component by process id
	exits    chan exit      // processes that ended; nil until the first was started
}

type exit struct {
	pid    int
	status string
}

func (s *supervisor) fail(err error, log string) error {
	// Whoever started the node may be gone; the error is in the node's own log, too.
	_ = s.report.Encode(event{Failed: err.Error(), Log: log})
	return err
}

func (s *supervisor) prepare() error {
	if err := recordSelf(s.checkout.Root); err != nil {
		return err
	}
	if err := privateMounts(); err != nil {
		return err
	}
	return forward()
}

// startAll brings the node up. With an error it returns whose log to look at.
func (s *supervisor) startAll(ctx context.Context) (log string, err error) {
	for _, c := range components() {
		// An end of the report means that up is gone: then the node ends as well.
		if err := s.report.Encode(event{Step: c.Name}); err != nil {
			return "", fmt.Errorf("report to the one who started the node: %w", err)
		}
		if err := s.start(c); err != nil {
			return c.Name, err
		}
		if c.Ready == nil {
			continue
		}
		if log, err := s.await(ctx, c.Name, c.Ready); err != nil {
			return log, err
		}
	}
	if err := s.report.Encode(event{Step: "node ready, names resolve"}); err != nil {
		return "", fmt.Errorf("report to the one who started the node: %w", err)
	}
	return s.await(ctx, "kubelet", clusterReady)
}

func (s *supervisor) start(c component) error {
	log, err := os.OpenFile(logFile(c.Name), os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o600)
	if err != nil {
		return fmt.Errorf("open the log of %s: %w", c.Name, err)
	}
	defer log.Close()
	nothing, err := os.Open(os.DevNull)
	if err != nil {
		return fmt.Errorf("open an empty input for %s: %w", c.Name, err)
	}
	defer nothing.Close()
	path := s.checkout.program(c.Name)
	process, err := os.StartProcess(path, append([]string{path}, c.Args...), &os.ProcAttr{
		Dir: stateDir, Env: environment(s.checkout), Files: []*os.File{nothing, log, log},
	})
	if err != nil {
		return fmt.Errorf("start %s: %w", c.Name, err)
	}
	s.running[process.Pid] = c.Name
	if s.exits == nil {
		s.exits = make(chan exit)
		go reap(s.exits)
	}
	return process.Release()
}

// readyWithin bounds each wait for a component. A cold machine reads a hundred
// megabytes for one program.
const readyWithin = 2 * time.Minute

// await waits for a component and watches the others meanwhile.
func (s *supervisor) await(ctx context.Context, name string, ready func(context.Context) error) (log string, err error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	answer := make(chan error, 1)
	go func() { answer <- waitFor(ctx, readyWithin, name, ready) }()
	for {
		select {
		case err := <-answer:
			return name, err
		case e := <-s.exits:
			if ended, ok := s.running[e.pid]; ok {
				return ended, fmt.Errorf("%s ended: %s", ended, e.status)
			}
		}
	}
}

// reap collects every process that ends: components, and orphans, which the first
// process of a PID namespace inherits.
func reap(exits chan<- exit) {
	for {
		var status syscall.WaitStatus
		pid, err := syscall.Wait4(-1, &status, 0, nil)
		switch {
		case err == syscall.EINTR:
		case err != nil: // no process is left, and the last exit was told
			return
		default:
			exits <- exit{pid: pid, status: describe(status)}
		}
	}
}

func describe(status syscall.WaitStatus) string {
	if status.Signaled() {
		return "signal: " + status.Signal().String()
	}
	return fmt.Sprintf("exit status %d", status.ExitStatus())
}
