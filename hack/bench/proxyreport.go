// Copyright The Penstock Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"strings"
	"time"
)

// The part of a document about the request path lies between these lines.
const (
	proxyPartBegins = "<!-- measured request path: begin -->"
	proxyPartEnds   = "<!-- measured request path: end -->"
)

// markdown is everything that was measured.
func (f *proxyFindings) markdown() string {
	var b strings.Builder
	m := f.machine
	fmt.Fprintf(&b, "Measured on %s: %s, %d cores, %s, Redis %s, %s. %s; other processes took %.0f %% of the machine meanwhile.\n\n",
		m.date, m.processor, m.count, m.kernel, m.redis, m.golang, m.cores, max(m.others, 0))
	b.WriteString("| in front of the app | req/s | of its core | CPU ms per 1,000 | p50 µs, p99 µs: 64 connections | one connection | open loop at 30 % | MB at start | at 1,000 req/s after | at 64 connections |\n")
	b.WriteString("|---|--:|--:|--:|--:|--:|--:|--:|--:|--:|\n")
	pair := func(p50, p99 time.Duration) string { return micros(p50) + ", " + micros(p99) }
	for _, r := range f.rows {
		own := "| | "
		if r.cpu > 0 {
			own = fmt.Sprintf("| %.0f %% | %.1f", 100*r.busy, r.cpu)
		}
		fmt.Fprintf(&b, "| %s | %s %s | %s | %s | %s | %s | %s | %s |\n", r.name, thousands(r.perSecond), own,
			pair(r.manyP50, r.manyP99), pair(r.oneP50, r.oneP99), pair(r.openP50, r.openP99),
			megabytes(r.idleBytes), megabytes(r.quietBytes), megabytes(r.loadedBytes))
	}
	fmt.Fprintf(&b, "\nA bare EVALSHA on the same Redis takes %s µs with one caller (p99 %s).\n", micros(f.evalsha.p50), micros(f.evalsha.p99))
	if f.partial {
		return b.String()
	}
	b.WriteString("\n| target | wanted | measured | |\n|---|--:|--:|---|\n")
	for _, t := range f.targets() {
		fmt.Fprintf(&b, "| %s | %s | %s | %s |\n", t.name, t.wanted, t.measured, t.verdict())
	}
	return b.String()
}

func megabytes(bytes float64) string {
	if bytes == 0 {
		return ""
	}
	return fmt.Sprintf("%.1f", bytes/(1<<20))
}

// row is the row of a name.
func (f *proxyFindings) row(name string) proxyRow {
	for _, r := range f.rows {
		if r.name == name {
			return r
		}
	}
	return proxyRow{}
}

// targets are all of them.
func (f *proxyFindings) targets() []target {
	bare, none, one := f.row(rowReverseProxy), f.row(rowNoRule), f.row(rowOneRule)
	ratio := func(name string, above, below proxyRow, least float64) target {
		got := above.perSecond / max(below.perSecond, 1)
		return target{name: name, wanted: fmt.Sprintf("≥ %.2f×", least), measured: fmt.Sprintf("%.2f×", got), met: got >= least}
	}
	times := func(name string, added, call time.Duration, most float64) target {
		got := float64(added) / float64(max(call, 1))
		return target{name: name, wanted: fmt.Sprintf("≤ %.1f×", most), measured: fmt.Sprintf("%.2f× (%s µs over %s µs)", got, micros(added), micros(call)), met: got <= most}
	}
	added := func(name string, got, most time.Duration) target {
		return target{name: name, wanted: "≤ " + micros(most) + " µs", measured: micros(got) + " µs", met: got <= most}
	}
	return []target{
		ratio("no rule over a bare ReverseProxy, req/s", none, bare, 0.95),
		ratio("one exact rule on Redis over no rule, req/s", one, none, 0.85),
		times("what that rule adds to p50 at one connection, over a bare EVALSHA", one.oneP50-none.oneP50, f.evalsha.p50, 1.3),
		times("what that rule adds to p99 at one connection, over a bare EVALSHA", one.oneP99-none.oneP99, f.evalsha.p99, 1.5),
		ratio("Leased over no rule, req/s", f.row(rowLeased), none, 0.95),
		ratio("refusals from memory over no rule, req/s", f.row(rowRefused), none, 0.95),
		added("no rule over a bare ReverseProxy, p50 at one connection", none.oneP50-bare.oneP50, 20*time.Microsecond),
		added("no rule over a bare ReverseProxy, p99 at one connection", none.oneP99-bare.oneP99, 300*time.Microsecond),
		atMost("memory of the sidecar at its start", none.idleBytes/(1<<20), 18, "MB"),
		atMost("memory of the sidecar at 1,000 req/s", f.row(rowOneRule).quietBytes/(1<<20), 30, "MB"),
	}
}
