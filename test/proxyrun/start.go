// Copyright The Penstock Authors.
// SPDX-License-Identifier: Apache-2.0

package proxyrun

import (
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/penstock-dev/penstock/internal/ruleset"
)

// Proxy is a running sidecar or penstock run.
type Proxy struct {
	// Address is where it takes requests, as host:port, and Admin where its probes
	// and metrics are.
	Address, Admin string

	tb      testing.TB
	process *process
}

// StartSidecar runs the sidecar in front of an app at host:port, with a rule set that
// is counted in memory and more flags perhaps, until the test ends. A rule set that is
// nil has no rules.
func StartSidecar(tb testing.TB, app string, rules *ruleset.RuleSet, flags ...string) *Proxy {
	tb.Helper()
	if rules == nil {
		rules = NoRules()
	}
	host, appPort, err := net.SplitHostPort(app)
	if err != nil {
		tb.Fatalf("app %q: %v", app, err)
	}
	text, err := json.Marshal(rules)
	if err != nil {
		tb.Fatal(err)
	}
	file := filepath.Join(tb.TempDir(), "rules.json")
	if err := os.WriteFile(file, text, 0o600); err != nil {
		tb.Fatal(err)
	}
	listen, admin := freePort(tb, host), freePort(tb, host)
	arguments := append([]string{"--port=" + listen + "=" + appPort, "--admin-port=" + admin, "--rules=" + file}, flags...)
	p := &Proxy{tb: tb, Address: net.JoinHostPort(host, listen), Admin: net.JoinHostPort(host, admin)}
	p.process = launch(tb, []string{"POD_IPS=" + host}, Program(tb, Sidecar), arguments...)
	p.awaitReady()
	return p
}

var greeting = regexp.MustCompile(`(?s)listening: +http://(\S+)\n.*metrics: +http://([^/\s]+)/`)

// StartPenstock runs a policy file, or a spec of a policy for every request, in front
// of an app at a URL, counting in memory unless flags name a --store, until the test
// ends. A spec begins with no apiVersion; its lines are those below `spec:`.
func StartPenstock(tb testing.TB, app, policy string, flags ...string) *Proxy {
	tb.Helper()
	if strings.Contains(policy, ":") {
		policy = writePolicy(tb, policy)
	}
	arguments := append([]string{"run", "--policy", policy, "--upstream", app, "--listen", "127.0.0.1:0", "--admin", "127.0.0.1:0"}, flags...)
	p := &Proxy{tb: tb, process: launch(tb, nil, Program(tb, Penstock), arguments...)}
	p.process.await(tb, "wait for penstock run to say where it listens", func() error {
		found := greeting.FindStringSubmatch(p.process.output.String())
		if found == nil {
			return errors.New("it has not said so")
		}
		p.Address, p.Admin = found[1], found[2]
		return nil
	})
	p.awaitReady()
	return p
}

// NoRules is a rule set without policies.
func NoRules() *ruleset.RuleSet {
	return &ruleset.RuleSet{Format: ruleset.Format, Namespace: "default", IdentityKey: []byte("0123456789abcdef0123456789abcdef")}
}

// writePolicy writes a policy for every request and returns its file.
func writePolicy(tb testing.TB, spec string) string {
	tb.Helper()
	const head = "apiVersion: ratelimit.penstock.dev/v1alpha1\nkind: RateLimitPolicy\nmetadata: {name: web}\nspec:\n  selector: {}\n  "
	file := filepath.Join(tb.TempDir(), "policy.yaml")
	text := head + strings.ReplaceAll(strings.TrimSpace(spec), "\n", "\n  ") + "\n"
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		tb.Fatal(err)
	}
	return file
}

// FreeAddress is a loopback address that was free a moment ago.
func FreeAddress(tb testing.TB) string {
	tb.Helper()
	return net.JoinHostPort("127.0.0.1", freePort(tb, "127.0.0.1"))
}

// freePort is a port of a host that was free a moment ago.
func freePort(tb testing.TB, host string) string {
	tb.Helper()
	listener, err := net.Listen("tcp", net.JoinHostPort(host, "0"))
	if err != nil {
		tb.Fatal(fmt.Errorf("find a free port: %w", err))
	}
	defer func() { _ = listener.Close() }()
	_, port, _ := net.SplitHostPort(listener.Addr().String())
	return port
}
