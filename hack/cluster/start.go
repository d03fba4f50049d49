// Copyright The Penstock Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"syscall"
	"time"
)

// startNode starts the node's first process in namespaces of its own and follows its
// report until the node serves. The process outlives this one.
func startNode(ctx context.Context, c checkout) error {
	// It must not end with ctx once the node serves.
	cmd, err := insideNetwork(context.WithoutCancel(ctx), c, verbNode)
	if err != nil {
		return err
	}
	reader, writer, err := os.Pipe()
	if err != nil {
		return fmt.Errorf("make the pipe for the node's report: %w", err)
	}
	defer reader.Close()
	defer writer.Close()
	log, err := os.OpenFile(logFile(verbNode), os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o600)
	if err != nil {
		return fmt.Errorf("open the node's log: %w", err)
	}
	defer log.Close()
	cmd.Stdout, cmd.Stderr = log, log
	cmd.ExtraFiles = []*os.File{writer} // reportDescriptor
	cmd.SysProcAttr = &syscall.SysProcAttr{
		Cloneflags: syscall.CLONE_NEWPID | syscall.CLONE_NEWNS,
		Setsid:     true, // an interrupt from the terminal is for up, not for the node
	}
	if err := cmd.Start(); err != nil {
		return fmt.Errorf("start the node's first process: %w", err)
	}
	writer.Close()
	stop := context.AfterFunc(ctx, func() { reader.Close() })
	defer stop()
	if err := follow(reader, os.Stdout); err != nil {
		_ = cmd.Process.Kill() // and with it all that it started
		_ = cmd.Wait()
		if ctx.Err() != nil {
			return errors.New("interrupted")
		}
		return err
	}
	return cmd.Process.Release()
}

// follow shows the node's report and returns nil once the node serves.
func follow(report io.Reader, out io.Writer) error {
	began := time.Now()
	events := json.NewDecoder(report)
	for {
		var e event
		if err := events.Decode(&e); err != nil {
			return fmt.Errorf("the node's first process ended without a report: %w\n%s", err, logTail(verbNode))
		}
		switch {
		case e.Ready:
			return nil
		case e.Failed != "":
			if e.Log == "" {
				e.Log = verbNode
			}
			return fmt.Errorf("%s\nthe end of the log of %s:\n%s", e.Failed, e.Log, logTail(e.Log))
		default:
			fmt.Fprintf(out, "  %5.1fs %s\n", time.Since(began).Seconds(), e.Step)
		}
	}
}

// logTail returns the end of a component's log, indented.
func logTail(name string) string {
	text, err := os.ReadFile(logFile(name))
	if err != nil {
		return "    (no log: " + err.Error() + ")"
	}
	return "    " + strings.ReplaceAll(lastLines(string(text), 40), "\n", "\n    ")
}
