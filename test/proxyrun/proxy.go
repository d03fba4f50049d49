// Copyright The Penstock Authors.
// SPDX-License-Identifier: Apache-2.0

package proxyrun

import (
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

// URL is where requests are taken.
func (p *Proxy) URL() string { return "http://" + p.Address }

// PID is the process, for its CPU time and memory.
func (p *Proxy) PID() int { return p.process.handle.Pid }

// Output is what the program has printed so far.
func (p *Proxy) Output() string { return p.process.output.String() }

// Stop ends the program as the kubelet does, and fails the test if it does not end
// well.
func (p *Proxy) Stop() {
	p.tb.Helper()
	if err := p.process.stop(); err != nil {
		p.tb.Errorf("end of the program: %v; its output:\n%s", err, p.Output())
	}
}

func (p *Proxy) awaitReady() {
	p.tb.Helper()
	p.process.await(p.tb, "wait for /readyz", func() error {
		_, err := p.get("/readyz")
		return err
	})
}

// get asks the admin listener, on a connection of its own.
func (p *Proxy) get(path string) (string, error) {
	client := http.Client{Transport: &http.Transport{DisableKeepAlives: true}, Timeout: Patience}
	answer, err := client.Get("http://" + p.Admin + path)
	if err != nil {
		return "", err
	}
	defer func() { _ = answer.Body.Close() }()
	text, err := io.ReadAll(answer.Body)
	if err == nil && answer.StatusCode != http.StatusOK {
		err = fmt.Errorf("%s answers %s: %s", path, answer.Status, text)
	}
	return string(text), err
}

// Metric is the sum of a metric over the series whose labels hold each text.
func (p *Proxy) Metric(name string, labels ...string) float64 {
	p.tb.Helper()
	text, err := p.get("/metrics")
	if err != nil {
		p.tb.Fatal(err)
	}
	sum, err := sumOf(text, name, labels)
	if err != nil {
		p.tb.Fatal(err)
	}
	return sum
}

func sumOf(metrics, name string, labels []string) (float64, error) {
	sum := 0.0
	for line := range strings.Lines(metrics) {
		rest, named := strings.CutPrefix(line, name)
		if !named || rest[0] != '{' && rest[0] != ' ' || !holdsAll(rest, labels) {
			continue
		}
		value, err := strconv.ParseFloat(strings.TrimSpace(rest[strings.LastIndex(rest, " ")+1:]), 64)
		if err != nil {
			return 0, fmt.Errorf("read metric %q: %w", line, err)
		}
		sum += value
	}
	return sum, nil
}

func holdsAll(text string, parts []string) bool {
	for _, part := range parts {
		if !strings.Contains(text, part) {
			return false
		}
	}
	return true
}

// Descriptors is how many files and sockets the program has open. Only Linux tells.
func (p *Proxy) Descriptors() int {
	p.tb.Helper()
	open, err := os.ReadDir(filepath.Join("/proc", strconv.Itoa(p.PID()), "fd"))
	if err != nil {
		p.tb.Fatalf("count what the program has open: %v", err)
	}
	return len(open)
}

// Idle is what a program without work has: how many descriptors and goroutines.
type Idle struct{ Descriptors, Goroutines int }

// Idle counts what the program has now.
func (p *Proxy) Idle() Idle {
	p.tb.Helper()
	// Asking for the metrics costs a connection: ask before counting.
	goroutines := int(p.Metric("go_goroutines"))
	return Idle{Descriptors: p.Descriptors(), Goroutines: goroutines}
}

// WantIdle fails unless the program comes back to what it had before, with a few of
// each to spare for connections that the runtime keeps.
func (p *Proxy) WantIdle(before Idle) {
	p.tb.Helper()
	const spare = 3
	var now Idle
	deadline := time.Now().Add(Patience)
	tick := time.NewTicker(50 * time.Millisecond)
	defer tick.Stop()
	for ; time.Now().Before(deadline); <-tick.C {
		now = p.Idle()
		if now.Descriptors <= before.Descriptors+spare && now.Goroutines <= before.Goroutines+spare {
			return
		}
	}
	p.tb.Errorf("the program keeps %+v, want at most %d more of each than %+v: something was left behind", now, spare, before)
}
