// Copyright The Penstock Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"errors"
	"fmt"
	"os"
	"strings"
	"time"
)

// The measured part of a document lies between these lines.
const (
	partBegins = "<!-- measured: begin -->"
	partEnds   = "<!-- measured: end -->"
)

// markdown is everything that was measured.
func (f *findings) markdown() string {
	var b strings.Builder
	m := f.machine
	fmt.Fprintf(&b, "Measured on %s: %s, %d cores, %s, Redis %s with %s, %s. %s; other processes took %.0f %% of the machine meanwhile.\n\n",
		m.date, m.processor, m.count, m.kernel, m.redis, m.allocator, m.golang, m.cores, m.others)
	b.WriteString("| limiter | callers | checks/s | Redis CPU µs/check | client CPU µs/check | p50 µs | p99 µs | checks per call |\n")
	b.WriteString("|---|--:|--:|--:|--:|--:|--:|--:|\n")
	for _, r := range f.rows {
		for i, s := range r.samples {
			fmt.Fprintf(&b, "| %s | %d | %s | %.1f | %.1f | %s | %s | %.1f |\n", r.name, callerCounts[i],
				thousands(s.perSecond), s.redisCPU, s.clientCPU, micros(s.p50), micros(s.p99), s.perCall)
		}
	}
	if f.partial {
		return b.String()
	}
	fmt.Fprintf(&b, "\nTokenBucket in full calls (%.0f checks each): %.2f µs of Redis' CPU for each check, %s checks/s while Redis was busy %.0f %% of the time.\n",
		f.full.perCall, f.full.redisCPU, thousands(f.full.perSecond), 100*f.full.redisBusy)
	fmt.Fprintf(&b, "Without asking Redis: a refusal that is remembered takes %d ns, a decision from a lease %d ns.\n",
		f.refusal.Nanoseconds(), f.leased.Nanoseconds())
	if len(f.footprint) > 0 {
		b.WriteString("\n| memory in Redis | keys | bytes each |\n|---|--:|--:|\n")
	}
	for _, print := range f.footprint {
		count := thousands(float64(print.keys))
		if print.entry {
			count = ""
		}
		fmt.Fprintf(&b, "| %s | %s | %.1f |\n", print.name, count, print.bytes)
	}
	b.WriteString("\n| target | wanted | measured | |\n|---|--:|--:|---|\n")
	for _, t := range f.targets() {
		fmt.Fprintf(&b, "| %s | %s | %s | %s |\n", t.name, t.wanted, t.measured, t.verdict())
	}
	return b.String()
}

func micros(d time.Duration) string { return fmt.Sprintf("%.0f", float64(d)/float64(time.Microsecond)) }

// thousands writes a number with commas.
func thousands(value float64) string {
	digits := fmt.Sprintf("%.0f", value)
	for at := len(digits) - 3; at > 0; at -= 3 {
		digits = digits[:at] + "," + digits[at:]
	}
	return digits
}

// replaceMeasured puts the text between a document's two lines.
func replaceMeasured(path, text string) error {
	return replaceBetween(path, partBegins, partEnds, text)
}

// replaceBetween puts the text between two lines of a document.
func replaceBetween(path, first, last, text string) error {
	content, err := os.ReadFile(path)
	if err != nil {
		return fmt.Errorf("write what was measured: %w", err)
	}
	head, rest, begins := strings.Cut(string(content), first)
	_, tail, ends := strings.Cut(rest, last)
	if !begins || !ends {
		return errors.New("write what was measured: " + path + " lacks the lines " + first + " and " + last)
	}
	document := head + first + "\n" + text + last + tail
	if err := os.WriteFile(path, []byte(document), 0o644); err != nil {
		return fmt.Errorf("write what was measured: %w", err)
	}
	return nil
}
