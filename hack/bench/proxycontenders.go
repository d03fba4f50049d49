// Copyright The Penstock Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"syscall"
	"time"

	"github.com/penstock-dev/penstock/internal/redisconn"
	"github.com/penstock-dev/penstock/internal/ruleset"
)

// Names of the rows, which the targets compare.
const (
	rowDirect       = "the app itself"
	rowReverseProxy = "bare httputil.ReverseProxy"
	rowNginx        = "nginx"
	rowNginxLimit   = "nginx with limit_req"
	rowNoRule       = "sidecar without rules"
	rowOneRule      = "sidecar with one exact rule on Redis"
	rowTenRules     = "sidecar with ten exact rules on Redis"
	rowRefused      = "sidecar over the limit"
	rowLeased       = "sidecar with a Leased rule"
	rowMemory       = "sidecar with one rule in memory"
)

// stand is where contenders are started: one app and one Redis for all.
type stand struct {
	scratch, sidecar, app, redis string
	// core is the one that proxies run on, and others is for all else; -1 leaves that to
	// the system.
	core, others int
}

// proxyContender is a proxy in front of the app.
type proxyContender struct {
	name, address string
	// admin is where a sidecar answers about itself; empty for other proxies.
	admin string
	// want is the status of its answers.
	want    int
	process *os.Process
	// idle is its memory before the first request.
	idle int64
}

// proxyRows are all of them, in order.
func proxyRows() []struct {
	name  string
	want  int
	start func(s *stand, address string) (*exec.Cmd, error)
} {
	onRedis := func(rules int, change func(*ruleset.Rule)) func(s *stand, address string) (*exec.Cmd, error) {
		return func(s *stand, address string) (*exec.Cmd, error) {
			return s.sidecarOnRedis(address, ruleSet(rules, change))
		}
	}
	// What is compared lies close together.
	return []struct {
		name  string
		want  int
		start func(s *stand, address string) (*exec.Cmd, error)
	}{
		{rowDirect, http.StatusOK, nil},
		{rowNginx, http.StatusOK, func(s *stand, address string) (*exec.Cmd, error) { return s.nginx(address, "") }},
		{rowNginxLimit, http.StatusOK, func(s *stand, address string) (*exec.Cmd, error) {
			return s.nginx(address, "limit_req zone=clients burst=100000 nodelay;")
		}},
		{rowReverseProxy, http.StatusOK, (*stand).reverseProxy},
		{rowNoRule, http.StatusOK, onRedis(0, nil)},
		{rowOneRule, http.StatusOK, onRedis(1, nil)},
		{rowLeased, http.StatusOK, onRedis(1, func(r *ruleset.Rule) {
			// One count for all: a lease is for many requests of one client.
			r.Leased, r.Key = true, nil
			r.Limits[0].WindowMicros = time.Minute.Microseconds()
		})},
		{rowRefused, http.StatusTooManyRequests, onRedis(1, func(r *ruleset.Rule) {
			// One request a year of all together: the first is asked for while it starts.
			r.Name, r.Key = "refused", nil
			r.Limits[0].Key = "refused0"
			r.Limits[0].Requests, r.Limits[0].Burst, r.Limits[0].WindowMicros = 1, 1, (365 * 24 * time.Hour).Microseconds()
		})},
		{rowTenRules, http.StatusOK, onRedis(10, nil)},
		{rowMemory, http.StatusOK, func(s *stand, address string) (*exec.Cmd, error) { return s.sidecarInMemory(address, ruleSet(1, nil)) }},
	}
}

// startContender starts a proxy and returns once it answers.
func (s *stand) startContender(ctx context.Context, name string, want int, start func(*stand, string) (*exec.Cmd, error)) (*proxyContender, error) {
	if start == nil {
		return &proxyContender{name: name, address: s.app, want: want}, nil
	}
	port, err := freePort()
	if err != nil {
		return nil, err
	}
	c := &proxyContender{name: name, address: net.JoinHostPort("127.0.0.1", strconv.Itoa(port)), want: want}
	command, err := start(s, c.address)
	if err != nil {
		return nil, fmt.Errorf("prepare %s: %w", name, err)
	}
	c.admin = adminOf(command)
	if s.core >= 0 {
		// The program must find itself on one core when it starts.
		command.Args = append([]string{"taskset", "-c", strconv.Itoa(s.core), command.Path}, command.Args[1:]...)
		if command.Path, err = exec.LookPath("taskset"); err != nil {
			return nil, fmt.Errorf("pin %s to a core: %w; install util-linux", name, err)
		}
	}
	var log *os.File
	if log, err = os.CreateTemp(s.scratch, "log-"); err != nil {
		return nil, err
	}
	defer func() { _ = log.Close() }()
	command.Stderr, command.SysProcAttr = log, dieWithParent()
	if err := command.Start(); err != nil {
		return nil, fmt.Errorf("start %s: %w", name, err)
	}
	c.process = command.Process
	go func() { _ = command.Wait() }()
	if err := c.await(ctx); err != nil {
		c.close()
		said, _ := os.ReadFile(log.Name())
		return nil, fmt.Errorf("%w; its output:\n%s", err, said)
	}
	if c.idle, err = residentBytes(c.process.Pid); err != nil {
		c.close()
	}
	return c, err
}

// await returns once the proxy answers as it is to.
func (c *proxyContender) await(ctx context.Context) error {
	const patience = 15 * time.Second
	var last error
	for deadline := time.Now().Add(patience); time.Now().Before(deadline) && ctx.Err() == nil; wait(ctx, 20*time.Millisecond) {
		connection, err := dial(ctx, c.address)
		if err != nil {
			last = err
			continue
		}
		// The first request of a client may be within a limit that the next is over.
		status := 0
		for range 2 {
			connection.client = -1
			if status, last = connection.send(); last != nil {
				break
			}
		}
		_ = connection.conn.Close()
		if last == nil && status == c.want {
			return nil
		}
		last = errors.Join(last, fmt.Errorf("the last status was %d, want %d", status, c.want))
	}
	return fmt.Errorf("%s does not answer within %v: %w", c.name, patience, last)
}

func (c *proxyContender) close() {
	if c.process != nil {
		_ = c.process.Signal(syscall.SIGKILL)
	}
}

func (s *stand) reverseProxy(address string) (*exec.Cmd, error) {
	self, err := os.Executable()
	return exec.Command(self, reverseProxyRole, address, s.app), err
}

func (s *stand) nginx(address, limit string) (*exec.Cmd, error) {
	path, err := exec.LookPath("nginx")
	if err != nil {
		return nil, fmt.Errorf("%w; run: make http-programs", err)
	}
	folder, err := os.MkdirTemp(s.scratch, "nginx-")
	if err != nil {
		return nil, err
	}
	text := fmt.Sprintf(nginxText, folder, s.app, address, limit)
	file := filepath.Join(folder, "nginx.conf")
	return exec.Command(path, "-p", folder, "-c", file), os.WriteFile(file, []byte(text), 0o600)
}

const nginxText = `daemon off; master_process off; worker_processes 1; pid %[1]s/pid; error_log stderr crit;
events { worker_connections 1024; }
http {
  access_log off; keepalive_requests 1000000000;
  client_body_temp_path %[1]s; proxy_temp_path %[1]s; fastcgi_temp_path %[1]s; uwsgi_temp_path %[1]s; scgi_temp_path %[1]s;
  limit_req_zone $http_x_api_key zone=clients:10m rate=1000000r/s;
  upstream app { server %[2]s; keepalive 128; keepalive_requests 1000000000; }
  server {
    listen %[3]s;
    location / {
      %[4]s
      proxy_pass http://app; proxy_http_version 1.1; proxy_set_header Connection "";
      proxy_set_header Host $host; proxy_set_header X-Forwarded-For $proxy_add_x_forwarded_for;
    }
  }
}
`

// sidecarOnRedis has the settings and the rules mounted as in a pod.
func (s *stand) sidecarOnRedis(address string, rules *ruleset.RuleSet) (*exec.Cmd, error) {
	folder, err := os.MkdirTemp(s.scratch, "store-")
	if err != nil {
		return nil, err
	}
	body, revision, err := ruleset.Encode(rules)
	if err != nil {
		return nil, err
	}
	err = errors.Join(
		// Redis shares its core with the load: the deadline must not decide.
		writeJSON(filepath.Join(folder, "store.json"), redisconn.Settings{Addresses: []string{s.redis}, OperationTimeout: time.Second}),
		writeJSON(filepath.Join(folder, "rules.json"), ruleset.Published{Sequence: 1, Revision: revision, Body: body}),
	)
	if err != nil {
		return nil, err
	}
	return s.sidecarCommand(address, "--store="+folder)
}

func (s *stand) sidecarInMemory(address string, rules *ruleset.RuleSet) (*exec.Cmd, error) {
	file := filepath.Join(s.scratch, "rules-"+filepath.Base(address)+".json")
	if err := writeJSON(file, rules); err != nil {
		return nil, err
	}
	return s.sidecarCommand(address, "--rules="+file)
}

func (s *stand) sidecarCommand(address, source string) (*exec.Cmd, error) {
	_, listen, _ := net.SplitHostPort(address)
	_, app, _ := net.SplitHostPort(s.app)
	admin, err := freePort()
	if err != nil {
		return nil, err
	}
	command := exec.Command(s.sidecar, "--port="+listen+"="+app, adminPortFlag+strconv.Itoa(admin), source)
	command.Env = append(os.Environ(), "POD_NAME=bench", "POD_NAMESPACE=shop", "POD_UID=bench-"+listen, "POD_IPS=127.0.0.1")
	return command, nil
}

// ruleSet has so many rules of one limit for each API key, which admit all.
func ruleSet(rules int, change func(*ruleset.Rule)) *ruleset.RuleSet {
	policy := ruleset.Policy{
		Kind: "RateLimitPolicy", Name: "web", Revision: "1", Selectors: []ruleset.Selector{{}}, PathMatching: ruleset.PathLoose,
		ClientIP: ruleset.ClientIP{IPv6PrefixLength: 64},
		Response: ruleset.Response{Headers: []ruleset.HeaderFamily{ruleset.HeadersRateLimit, ruleset.HeadersXRateLimit}},
	}
	for i := range rules {
		rule := ruleset.Rule{
			Name: fmt.Sprintf("rule-%d", i), OnStoreFailure: ruleset.FailLocal, LoosenessMilli: 1500,
			Key: []ruleset.KeyPart{{Name: "client", From: []ruleset.KeySource{{Kind: ruleset.SourceHeader, Name: "x-api-key"}}, OnMissing: ruleset.MissingShare}},
			Limits: []ruleset.Limit{{
				Name: "second", Algorithm: ruleset.TokenBucket, Requests: 1_000_000, Burst: 1_000_000,
				WindowMicros: time.Second.Microseconds(), Key: fmt.Sprintf("limit-%02d", i),
			}},
		}
		if change != nil {
			change(&rule)
		}
		policy.Rules = append(policy.Rules, rule)
	}
	set := &ruleset.RuleSet{Format: ruleset.Format, Namespace: "shop", IdentityKey: []byte("0123456789abcdef0123456789abcdef")}
	if rules > 0 {
		set.Policies = []ruleset.Policy{policy}
	}
	return set
}

func writeJSON(path string, value any) error {
	text, err := json.Marshal(value)
	if err != nil {
		return err
	}
	return os.WriteFile(path, text, 0o600)
}
