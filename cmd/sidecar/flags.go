// Copyright The Penstock Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"log/slog"
	"net/netip"
	"strconv"
	"strings"

	"github.com/penstock-dev/penstock/internal/appprobe"
	"github.com/penstock-dev/penstock/internal/limiter"
	"github.com/penstock-dev/penstock/internal/proxy"
	"github.com/penstock-dev/penstock/internal/settings"
)

const (
	defaultAdminPort = 15420
	maxPort          = 65535
)

// portPair is one intercepted port.
type portPair struct {
	listen int32 // where the sidecar listens
	app    int32 // where the app does
}

// options are what the sidecar is told.
type options struct {
	ports     portPairs
	adminPort int
	appHost   string // where the app is; empty: the pod's first address
	probes    probeSet
	store     string // folder of the mounted Secret; empty with rules
	labels    string // file of the downward API; empty: no labels
	rules     string // file with a rule set; empty with store
	// memoryKeys bounds what is counted in this process.
	memoryKeys int
	logLevel   slog.Level
	config     string
	version    bool
	proxy      proxy.Options
}

// portPairs is the flag value of --port, which may be given several times.
type portPairs []portPair

func (p *portPairs) String() string {
	if p == nil {
		return ""
	}
	texts := make([]string, len(*p))
	for i, pair := range *p {
		texts[i] = fmt.Sprintf("%d=%d", pair.listen, pair.app)
	}
	return strings.Join(texts, ",")
}

func (p *portPairs) Set(value string) error {
	listen, app, found := strings.Cut(value, "=")
	if !found {
		return errors.New("want LISTEN=APP, such as 15480=8080")
	}
	pair := portPair{}
	var err error
	if pair.listen, err = parsePort(listen); err != nil {
		return fmt.Errorf("listen port: %w", err)
	}
	if pair.app, err = parsePort(app); err != nil {
		return fmt.Errorf("app port: %w", err)
	}
	if pair.listen == pair.app {
		return fmt.Errorf("listen port and app port are both %d: the sidecar and the app cannot share one", pair.listen)
	}
	for _, other := range *p {
		if other.listen == pair.listen {
			return fmt.Errorf("listen port %d is given twice", pair.listen)
		}
	}
	*p = append(*p, pair)
	return nil
}

func parsePort(value string) (int32, error) {
	port, err := strconv.ParseUint(value, 10, 16)
	if err != nil || port == 0 {
		return 0, fmt.Errorf("%q is no port, want 1 to 65535", value)
	}
	return int32(port), nil
}

func (p *portPairs) IsRepeatable() bool { return true }

// newFlags are all flags with their defaults.
func newFlags() (*options, *settings.Groups) {
	o, groups := &options{adminPort: defaultAdminPort, memoryKeys: limiter.DefaultMemoryKeys}, &settings.Groups{}
	g := groups.Group("Ports")
	g.Var(&o.ports, "port", "intercepted port as `LISTEN=APP`, such as 15480=8080; repeatable")
	g.Var(settings.Int(&o.adminPort, 1, maxPort), "admin-port", "`PORT` of /healthz, /readyz, /metrics, /probe/NAME, and on loopback /debug/")
	g.Var(settings.Text(&o.appHost), "app-host", "IP `ADDRESS` at which the app is dialled; absent is the pod's first one. A loopback address exposes what listens there only, and makes callers look local")
	g = groups.Group("Rules")
	g.Var(settings.Text(&o.store), "store", "`FOLDER` with store.json (settings of the store) and rules.json (snapshot); they may appear later")
	g.Var(settings.Text(&o.rules), "rules", "`FILE` with a compiled rule set, counted in memory, instead of --store; to try one out")
	g.Var(settings.Text(&o.labels), "labels", "`FILE` with the pod's labels, as the downward API writes it; absent is no labels")
	g.Var(settings.Int(&o.memoryKeys, 1, 100_000_000), "memory-keys", "`NUMBER` of counters that are kept in memory, where the store is not asked; 100,000 take about 30 MB")
	o.proxy.AddFlags(groups)
	g = groups.Group("This program")
	g.Var(&o.probes, "probes", "probes of the app by name, as `JSON` in the words of a pod's spec, such as {\"web/readiness\": {\"httpGet\": {\"port\": 8080, \"path\": \"/ready\"}}}: /probe/NAME on the admin port performs them")
	g.Var(settings.Level(&o.logLevel), "log-level", "`LEVEL` from which on lines are logged: debug, info, warn or error")
	g.Var(settings.Text(&o.config), settings.FileFlag, "`FILE` with a JSON object that says the same as flags, such as {\"log-level\": \"debug\", \"port\": [\"15480=8080\"]}; flags win")
	g.Var(settings.Switch(&o.version), "version", "print the version and exit")
	return o, groups
}

// parseFlags reads the command line, and the file that it names. It prints help where
// that is asked for and returns flag.ErrHelp; other errors are for the caller to print.
func parseFlags(arguments []string, stderr io.Writer) (options, error) {
	parsed, groups := newFlags()
	set := groups.FlagSet("sidecar")
	err := settings.Parse(set, arguments)
	if errors.Is(err, flag.ErrHelp) {
		fmt.Fprint(stderr, usageText)
		groups.WriteHelp(stderr)
		return options{}, flag.ErrHelp
	}
	if err != nil {
		return options{}, err
	}
	if parsed.version {
		return *parsed, nil
	}
	if set.NArg() > 0 {
		return options{}, fmt.Errorf("unexpected argument %q", set.Arg(0))
	}
	if parsed.config != "" {
		given := map[string]bool{}
		set.Visit(func(f *flag.Flag) { given[f.Name] = true })
		if err := settings.ReadFile(parsed.config, set, func(name string) bool { return given[name] }); err != nil {
			return options{}, err
		}
	}
	return *parsed, parsed.validate()
}

func (o *options) validate() error {
	if len(o.ports) == 0 {
		return errors.New("flag --port is missing: name each intercepted port as LISTEN=APP, such as --port=15480=8080")
	}
	if (o.store == "") == (o.rules == "") {
		return errors.New("exactly one of the flags --store and --rules is needed: --store=FOLDER in a pod, --rules=FILE to try a rule set out")
	}
	for _, pair := range o.ports {
		if int(pair.listen) == o.adminPort || int(pair.app) == o.adminPort {
			return fmt.Errorf("flag --admin-port: %d is also in --port=%d=%d", o.adminPort, pair.listen, pair.app)
		}
	}
	if o.appHost != "" {
		if _, err := netip.ParseAddr(o.appHost); err != nil {
			return fmt.Errorf("flag --app-host: %q is no IP address; leave it out for the pod's own", o.appHost)
		}
	}
	return o.proxy.Check()
}

// probeSet is the flag value of --probes.
type probeSet appprobe.Set

func (p *probeSet) String() string { return "" }

func (p *probeSet) Set(text string) error {
	set, err := appprobe.ParseSet(text)
	*p = probeSet(set)
	return err
}
