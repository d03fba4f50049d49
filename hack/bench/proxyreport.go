// Copyright The Penstock Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"slices"
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

// factor is the median of what the rounds gave, and that as a text with the least and the
// most of them, by which a reader sees what the machine's unrest can make of it.
func (f *proxyFindings) factor(of func(proxyRound) float64) (median float64, text string) {
	median = middle(f.rounds, of)
	values := make([]float64, 0, len(f.rounds))
	for _, round := range f.rounds {
		values = append(values, of(round))
	}
	return median, fmt.Sprintf("%.2f× (%.2f to %.2f)", median, slices.Min(values), slices.Max(values))
}

// targets are all of them. Each compares within a round, whose rows lie close together in
// time, and has the median of the rounds: a machine shared with others is slower for
// minutes at a time, which medians of rows alone would take for a row's own.
func (f *proxyFindings) targets() []target {
	ratio := func(name, above, below string, least float64) target {
		got, measured := f.factor(func(r proxyRound) float64 { return r.rows[above].perSecond / max(r.rows[below].perSecond, 1) })
		return target{name: name, wanted: fmt.Sprintf("≥ %.2f×", least), measured: measured, met: got >= least}
	}
	median := func(value func(proxyRound) time.Duration) time.Duration { return middle(f.rounds, value) }
	times := func(name string, added, call func(proxyRound) time.Duration, most float64) target {
		got, measured := f.factor(func(r proxyRound) float64 { return float64(added(r)) / float64(max(call(r), 1)) })
		return target{
			name: name, wanted: fmt.Sprintf("≤ %.1f×", most),
			measured: fmt.Sprintf("%s: %s µs over %s µs", measured, micros(median(added)), micros(median(call))), met: got <= most,
		}
	}
	added := func(name string, value func(proxyRound) time.Duration, most time.Duration) target {
		got := median(value)
		return target{name: name, wanted: "≤ " + micros(most) + " µs", measured: micros(got) + " µs", met: got <= most}
	}
	resident := func(name, row string, value func(proxySample) float64, most float64) target {
		return atMost(name, middle(f.rounds, func(r proxyRound) float64 { return value(r.rows[row]) })/(1<<20), most, "MB")
	}
	return []target{
		ratio("no rule over a bare ReverseProxy, req/s", rowNoRule, rowReverseProxy, 0.95),
		ratio("one exact rule on Redis over no rule, req/s", rowOneRule, rowNoRule, 0.85),
		times("what that rule adds to p50 at one connection, over a bare EVALSHA",
			func(r proxyRound) time.Duration { return r.rows[rowOneRule].oneP50 - r.rows[rowNoRule].oneP50 },
			func(r proxyRound) time.Duration { return r.evalsha.p50 }, 1.3),
		times("what that rule adds to p99 at one connection, over a bare EVALSHA",
			func(r proxyRound) time.Duration { return r.rows[rowOneRule].oneP99 - r.rows[rowNoRule].oneP99 },
			func(r proxyRound) time.Duration { return r.evalsha.p99 }, 1.5),
		ratio("Leased over no rule, req/s", rowLeased, rowNoRule, 0.95),
		ratio("refusals from memory over no rule, req/s", rowRefused, rowNoRule, 0.95),
		added("no rule over a bare ReverseProxy, p50 at one connection",
			func(r proxyRound) time.Duration { return r.rows[rowNoRule].oneP50 - r.rows[rowReverseProxy].oneP50 }, 20*time.Microsecond),
		added("no rule over a bare ReverseProxy, p99 at one connection",
			func(r proxyRound) time.Duration { return r.rows[rowNoRule].oneP99 - r.rows[rowReverseProxy].oneP99 }, 300*time.Microsecond),
		resident("memory of the sidecar at its start", rowNoRule, func(s proxySample) float64 { return s.idleBytes }, 18),
		resident("memory of the sidecar at 1,000 req/s", rowOneRule, func(s proxySample) float64 { return s.quietBytes }, 30),
	}
}
