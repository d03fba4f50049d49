// Copyright The Penstock Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/penstock-dev/penstock/internal/limiter"
	"github.com/penstock-dev/penstock/internal/proxy"
	"github.com/penstock-dev/penstock/internal/redisconn"
	"github.com/penstock-dev/penstock/internal/ruleset"
	"github.com/penstock-dev/penstock/internal/settings"
)

// runFlags are the arguments of run.
type runFlags struct {
	policies   []string
	upstream   string
	store      string
	timeout    time.Duration
	memoryKeys int
	listen     string
	admin      []string
	namespace  string
	keyRoots   string
	logLevel   slog.Level
	config     string
	proxy      proxy.Options
}

// newRunFlags are all flags of run with their defaults.
func newRunFlags() (*runFlags, *settings.Groups) {
	f, groups := &runFlags{
		store: memoryStore, timeout: redisconn.DefaultOperationTimeout, memoryKeys: limiter.DefaultMemoryKeys,
		listen: "127.0.0.1:8080", logLevel: slog.LevelWarn,
	}, &settings.Groups{}
	g := groups.Group("What to run")
	g.Var(settings.List(&f.policies), "policy", "policy `FILE` (YAML, may hold several policies); repeat for more")
	g.Var(settings.Text(&f.upstream), "upstream", "`URL` of the app, such as http://127.0.0.1:9000")
	g.Var(settings.Text(&f.listen), "listen", "`ADDRESS` on which requests are taken")
	g.Var(settings.List(&f.admin), "admin", "`ADDRESS` of /metrics, /healthz, /readyz, and on loopback /debug/; absent is none; repeatable")
	g.Var(settings.Text(&f.namespace), "namespace", "`NAMESPACE` that the counters belong to; absent is the policies' own, else default")
	g.Var(settings.Text(&f.keyRoots), "jwks-ca", "`FILE` with certificates (PEM) to trust where the keys of issuers are fetched (jwks.url); absent is the system's")
	g = groups.Group("Where to count")
	g.Var(settings.Text(&f.store), "store", "memory, or the `URL` of a Redis as above")
	g.Var(settings.Duration(&f.timeout), "store-timeout", "how `LONG` a request waits for a Redis; more for one that is far away")
	g.Var(settings.Int(&f.memoryKeys, 1, 100_000_000), "memory-keys", "`NUMBER` of counters that are kept in memory; 100,000 take about 30 MB")
	f.proxy.AddFlags(groups)
	g = groups.Group("This program")
	g.Var(settings.Level(&f.logLevel), "log-level", "`LEVEL` from which on lines are logged: debug, info, warn or error; refusals are of level info")
	g.Var(settings.Text(&f.config), settings.FileFlag, "`FILE` with a JSON object that says the same as flags, such as {\"log-level\": \"info\", \"policy\": [\"policy.yaml\"]}; flags win")
	return f, groups
}

// check says what is missing or contradicts.
func (f *runFlags) check() error {
	switch {
	case len(f.policies) == 0:
		return errors.New(`required flag(s) "policy" not set: name a file, such as --policy policy.yaml`)
	case f.upstream == "":
		return errors.New(`required flag(s) "upstream" not set: name the app, such as --upstream http://127.0.0.1:9000`)
	}
	if _, err := portOf(f.upstream); err != nil {
		return err
	}
	if err := checkListen("listen", f.listen); err != nil {
		return err
	}
	for _, address := range f.admin {
		if err := checkListen("admin", address); err != nil {
			return err
		}
	}
	return f.proxy.Check()
}

// knowsRules wants rules that flags name to exist: here none can appear later.
func (f *runFlags) knowsRules(rules *ruleset.RuleSet) error {
	known := make(map[proxy.RuleName]bool)
	var names []string
	for i := range rules.Policies {
		policy := &rules.Policies[i]
		for j := range policy.Rules {
			name := proxy.NameOf(policy, &policy.Rules[j])
			known[name], names = true, append(names, name.String())
		}
	}
	for _, name := range f.proxy.KeyLabels {
		if !known[name] {
			return fmt.Errorf("%w: --key-labels names %q, which is no rule of the policies: write one of %s", errUsage, name, strings.Join(names, ", "))
		}
	}
	return nil
}

// portOf is the app's port: that of the URL, or that of its scheme.
func portOf(upstream string) (int32, error) {
	parsed, err := url.Parse(upstream)
	if err != nil || parsed.Host == "" || parsed.Scheme != "http" && parsed.Scheme != "https" {
		return 0, fmt.Errorf("--upstream %q is not a URL of an app: write one such as http://127.0.0.1:9000", upstream)
	}
	if where := (&url.URL{Scheme: parsed.Scheme, Host: parsed.Host}).String(); !strings.EqualFold(where, strings.TrimSuffix(upstream, "/")) {
		return 0, fmt.Errorf("--upstream %q has more than scheme, host and port, but requests keep their own path: write %s", parsed.Redacted(), where)
	}
	port := parsed.Port()
	if port == "" {
		service, err := net.LookupPort("tcp", parsed.Scheme)
		if err != nil {
			return 0, fmt.Errorf("--upstream %q has no port: add one", upstream)
		}
		return int32(service), nil
	}
	number, err := strconv.ParseUint(port, 10, 16)
	if err != nil || number == 0 {
		return 0, fmt.Errorf("--upstream %q has port %q: write a number from 1 to 65535", upstream, port)
	}
	return int32(number), nil
}
