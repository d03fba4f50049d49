// Copyright The Penstock Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/penstock-dev/penstock/internal/redisconn"
	"github.com/penstock-dev/penstock/internal/ruleset"
	"github.com/penstock-dev/penstock/internal/store"
	"github.com/penstock-dev/penstock/test/redistest"
)

const (
	namespace  = "shop"
	policyKind = "RateLimitPolicy"
	listenPort = 15480
	appPort    = 8080
	adminPort  = 15420
	// windowOfTests ends in the middle of no test.
	windowOfTests = 365 * 24 * time.Hour
	// patience bounds every wait; a test that fails waits this long.
	patience = 20 * time.Second
)

// limited is a rule set with one limit for all requests together.
func limited(requests int64) *ruleset.RuleSet {
	return &ruleset.RuleSet{
		Format: ruleset.Format, Namespace: namespace, IdentityKey: []byte("0123456789abcdef0123456789abcdef"),
		Policies: []ruleset.Policy{{
			Kind: policyKind, Name: "web", Revision: strconv.FormatInt(requests, 10),
			Selectors: []ruleset.Selector{{}}, PathMatching: ruleset.PathLoose, ClientIP: ruleset.ClientIP{IPv6PrefixLength: 64},
			Rules: []ruleset.Rule{{
				Name: "all", OnStoreFailure: ruleset.FailLocal, LoosenessMilli: 1000,
				Limits: []ruleset.Limit{{
					Name: "yearly", Algorithm: ruleset.FixedWindow, Requests: requests, Burst: requests,
					WindowMicros: windowOfTests.Microseconds(), Key: "abcdefgh",
				}},
			}},
			Response: ruleset.Response{Headers: []ruleset.HeaderFamily{ruleset.HeadersXRateLimit}},
		}},
	}
}

// published is a rule set as the snapshot in the Secret has it.
func published(t *testing.T, sequence int64, rs *ruleset.RuleSet) ruleset.Published {
	t.Helper()
	body, revision, err := ruleset.Encode(rs)
	if err != nil {
		t.Fatal(err)
	}
	return ruleset.Published{Sequence: sequence, Revision: revision, Body: body}
}

func publish(t *testing.T, rules *store.Store, rs *ruleset.RuleSet) store.Publication {
	t.Helper()
	publication, err := rules.Publish(t.Context(), rs)
	if err != nil {
		t.Fatal(err)
	}
	return publication
}

// pod is a pod as a local process: an app and the sidecar in front of it, at a
// loopback address of its own.
type pod struct {
	tb     testing.TB
	ip     string
	uid    string
	secret string // folder where the Secret is mounted
	app    *http.Server
	served atomic.Int64 // requests that the app saw
	log    lockedBuffer
	// command is the sidecar's process, and ended tells how it ended.
	command *exec.Cmd
	ended   chan error
}

// newPod returns a pod whose app runs and whose sidecar does not yet.
func newPod(t *testing.T) *pod {
	t.Helper()
	address := fmt.Sprintf("127.%d.%d.%d", 1+rand.N(250), rand.N(250), 2+rand.N(250))
	p := &pod{tb: t, ip: address, uid: "uid-" + address, secret: t.TempDir(), ended: make(chan error, 1)}
	listener, err := net.Listen("tcp", p.address(appPort))
	if err != nil {
		t.Fatal(err)
	}
	p.app = &http.Server{ReadHeaderTimeout: patience, Handler: http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		p.served.Add(1)
		_, _ = io.WriteString(w, "app\n")
	})}
	go func() { _ = p.app.Serve(listener) }()
	t.Cleanup(func() { _ = p.app.Close() })
	return p
}

func (p *pod) address(port int) string { return net.JoinHostPort(p.ip, strconv.Itoa(port)) }

// mount writes the Secret's settings of the store.
func (p *pod) mount(t *testing.T, settings redisconn.Settings) *pod {
	t.Helper()
	writeJSON(t, filepath.Join(p.secret, "store.json"), settings)
	return p
}

// start runs the sidecar with the flags that the webhook writes, and more.
func (p *pod) start(t *testing.T, more ...string) *pod {
	t.Helper()
	if len(more) == 0 {
		more = []string{"--store=" + p.secret}
	}
	arguments := append([]string{fmt.Sprintf("--port=%d=%d", listenPort, appPort), fmt.Sprintf("--admin-port=%d", adminPort)}, more...)
	p.command = exec.Command("sidecar", arguments...)
	p.command.Env = append(p.command.Environ(), "POD_NAME=web-"+p.ip, "POD_NAMESPACE="+namespace, "POD_UID="+p.uid, "POD_IPS="+p.ip)
	p.command.Stderr = &p.log
	p.command.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	if err := p.command.Start(); err != nil {
		t.Fatal(err)
	}
	go func() { p.ended <- p.command.Wait() }()
	t.Cleanup(func() {
		_ = p.command.Process.Kill()
		if t.Failed() {
			t.Logf("log of the sidecar at %s:\n%s", p.ip, p.log.String())
		}
	})
	return p
}

// stop ends the sidecar as the kubelet does and returns how it ended.
func (p *pod) stop(t *testing.T) error {
	t.Helper()
	if err := p.command.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	select {
	case err := <-p.ended:
		return err
	case <-time.After(patience):
		t.Fatal("the sidecar did not end")
		return nil
	}
}

// get sends a request through the sidecar on a connection of its own.
func (p *pod) get(t *testing.T) *http.Response {
	t.Helper()
	response, err := p.try(t.Context(), listenPort, "/")
	if err != nil {
		t.Fatal(err)
	}
	return response
}

func (p *pod) try(ctx context.Context, port int, path string) (*http.Response, error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+p.address(port)+path, nil)
	if err != nil {
		return nil, err
	}
	client := http.Client{Transport: &http.Transport{DisableKeepAlives: true}, Timeout: patience}
	response, err := client.Do(request)
	if err != nil {
		return nil, err
	}
	body, err := io.ReadAll(response.Body)
	_ = response.Body.Close()
	response.Body = io.NopCloser(bytes.NewReader(body))
	return response, err
}

// statuses sends requests one after the other and counts the answers by status.
func (p *pod) statuses(t *testing.T, requests int) map[int]int {
	t.Helper()
	counts := map[int]int{}
	for range requests {
		counts[p.get(t).StatusCode]++
	}
	return counts
}

// awaitReady waits until the sidecar says that it serves.
func (p *pod) awaitReady(t *testing.T) *pod {
	t.Helper()
	eventually(t, func() error {
		response, err := p.try(t.Context(), adminPort, "/readyz")
		if err == nil && response.StatusCode != http.StatusOK {
			err = fmt.Errorf("/readyz answers %s", response.Status)
		}
		return err
	})
	return p
}

// metric returns the sum of a metric over all labels that contain each filter.
func (p *pod) metric(t *testing.T, name string, filters ...string) float64 {
	t.Helper()
	response, err := p.try(t.Context(), adminPort, "/metrics")
	if err != nil {
		t.Fatal(err)
	}
	text, _ := io.ReadAll(response.Body)
	sum := 0.0
lines:
	for line := range strings.Lines(string(text)) {
		if !strings.HasPrefix(line, name+"{") && !strings.HasPrefix(line, name+" ") {
			continue
		}
		for _, filter := range filters {
			if !strings.Contains(line, filter) {
				continue lines
			}
		}
		value, err := strconv.ParseFloat(strings.TrimSpace(line[strings.LastIndex(line, " "):]), 64)
		if err != nil {
			t.Fatalf("metric line %q: %v", line, err)
		}
		sum += value
	}
	return sum
}

// awaitAck waits until the pod has acknowledged what is wanted.
func (p *pod) awaitAck(t *testing.T, rules *store.Store, wanted func(store.Ack) bool) store.Ack {
	t.Helper()
	var ack store.Ack
	eventually(t, func() error {
		acks, _, err := rules.ReadAcks(t.Context(), namespace)
		if err != nil {
			return err
		}
		ack = acks[p.uid]
		if !wanted(ack) {
			return fmt.Errorf("the last ack is %+v", ack)
		}
		return nil
	})
	return ack
}

func ofSequence(sequence int64) func(store.Ack) bool {
	return func(ack store.Ack) bool { return ack.Sequence == sequence }
}

// eventually repeats a check until it holds.
func eventually(t *testing.T, check func() error) {
	t.Helper()
	var err error
	for deadline := time.Now().Add(patience); time.Now().Before(deadline); <-time.After(10 * time.Millisecond) {
		if err = check(); err == nil {
			return
		}
	}
	t.Fatalf("not within %v: %v", patience, err)
}

func settingsOf(server *redistest.Server) redisconn.Settings {
	return redisconn.Settings{Addresses: []string{server.Addr()}, OperationTimeout: 500 * time.Millisecond}
}

// lockedBuffer is a buffer that a process writes and a test reads.
type lockedBuffer struct {
	mu     sync.Mutex
	buffer bytes.Buffer
}

func (b *lockedBuffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.buffer.Write(p)
}

func (b *lockedBuffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.buffer.String()
}
