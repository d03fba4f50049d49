// Copyright The Penstock Authors.
// SPDX-License-Identifier: Apache-2.0

package history

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"os"
)

// Record is one request as a worker saw it, a line of its file. Times are in
// microseconds since the epoch.
type Record struct {
	// Worker is who sent it, a process and a goroutine of it; Number counts the
	// worker's requests from 1.
	Worker string `json:"worker"`
	Number int    `json:"number"`
	// At is the store's time of the decision; 0 if the store was not asked: it had
	// refused the same lately, or had leased what was spent.
	At int64 `json:"at,omitempty"`
	// Before and After are this machine's time when the request was made and when it
	// was answered.
	Before int64 `json:"before"`
	After  int64 `json:"after"`
	// Admitted is the verdict.
	Admitted bool `json:"admitted"`
	// Checks are the limits that it met; of a request that was refused from memory,
	// those that refuse.
	Checks []Judged `json:"checks,omitempty"`
	// Releases is the number of the worker's request whose places of a Concurrency
	// limit are given back, and that is all: some time from Before to After.
	Releases int `json:"releases,omitempty"`
}

// Judged is one limit that a request met, and what that limit said.
type Judged struct {
	Limit  string `json:"limit"`
	Client string `json:"client"`
	Cost   int64  `json:"cost"`
	// Admits is what this limit alone said.
	Admits bool `json:"admits"`
}

func (r Record) String() string { return fmt.Sprintf("request %d of worker %s", r.Number, r.Worker) }

// fromMemory says that the store was not asked.
func (r Record) fromMemory() bool { return r.At == 0 && r.Releases == 0 }

// holder is who holds the places that a request of a worker got.
func holder(worker string, number int) string { return fmt.Sprint(worker, "/", number) }

// Write writes the record's line.
func (r Record) Write(to io.Writer) error {
	line, err := json.Marshal(r)
	if err != nil {
		return fmt.Errorf("write %v: %w", r, err)
	}
	if _, err := to.Write(append(line, '\n')); err != nil {
		return fmt.Errorf("write %v: %w", r, err)
	}
	return nil
}

// ReadFile reads the records that a worker's process wrote.
func ReadFile(path string) ([]Record, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("read a history: %w", err)
	}
	return Parse(text)
}

// Parse reads lines of records. A line that is none is an error.
func Parse(text []byte) ([]Record, error) {
	var records []Record
	lines := bufio.NewScanner(bytes.NewReader(text))
	for lines.Scan() {
		decoder := json.NewDecoder(bytes.NewReader(lines.Bytes()))
		decoder.DisallowUnknownFields()
		var read Record
		if err := decoder.Decode(&read); err != nil {
			return nil, fmt.Errorf("read line %d of a history: %w", len(records)+1, err)
		}
		records = append(records, read)
	}
	if err := lines.Err(); err != nil {
		return nil, fmt.Errorf("read line %d of a history: %w", len(records)+1, err)
	}
	return records, nil
}
