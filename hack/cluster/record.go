// Copyright The Penstock Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"
)

// record is how later runs recognise the node: the machine's process id of its first
// process, when that started (ids are used again), and the checkout it came from.
type record struct {
	PID     int
	Started string
	Root    string
}

const recordFile = "node"

// recordSelf writes the record of the calling process. The /proc it reads must still
// be the machine's, so that the id is, too.
func recordSelf(root string) error {
	link, err := os.Readlink("/proc/self")
	if err != nil {
		return fmt.Errorf("find the node's process id: %w", err)
	}
	pid, err := strconv.Atoi(link)
	if err != nil {
		return fmt.Errorf("find the node's process id: %w", err)
	}
	started, err := startOf(pid)
	if err != nil {
		return err
	}
	return write(recordFile, fmt.Sprintf("%d %s %s\n", pid, started, root))
}

// readRecord returns the zero record when there is none.
func readRecord() (record, error) {
	text, err := os.ReadFile(in(recordFile))
	if errors.Is(err, os.ErrNotExist) {
		return record{}, nil
	}
	if err != nil {
		return record{}, fmt.Errorf("read the record of the node: %w", err)
	}
	return parseRecord(string(text)), nil
}

// parseRecord returns the zero record for a text that was not written to its end.
func parseRecord(text string) record {
	fields := strings.SplitN(strings.TrimSuffix(text, "\n"), " ", 3)
	if len(fields) != 3 || !strings.HasSuffix(text, "\n") {
		return record{}
	}
	pid, err := strconv.Atoi(fields[0])
	if err != nil {
		return record{}
	}
	return record{PID: pid, Started: fields[1], Root: fields[2]}
}

// alive reports whether the very process of the record still runs.
func (r record) alive() bool {
	if r.PID <= 1 {
		return false
	}
	started, err := startOf(r.PID)
	return err == nil && started == r.Started
}

// startOf returns when a process started, in clock ticks since the machine's boot.
func startOf(pid int) (string, error) {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return "", fmt.Errorf("look up process %d: %w", pid, err)
	}
	return startField(string(text))
}

// startField returns field 22 of /proc/PID/stat (proc(5)); a process that only waits
// to be collected by its parent has ended. The second field, the name in parentheses,
// may contain spaces and parentheses itself.
func startField(stat string) (string, error) {
	fields := strings.Fields(stat[strings.LastIndex(stat, ")")+1:])
	const startTime = 22 - 3 // the first field after the name is number 3
	if len(fields) <= startTime {
		return "", fmt.Errorf("read a process's start: %d fields after its name", len(fields))
	}
	if fields[0] == "Z" {
		return "", errors.New("the process has ended")
	}
	return fields[startTime], nil
}
