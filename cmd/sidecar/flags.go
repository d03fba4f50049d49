// Copyright The Penstock Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"strconv"
	"strings"
)

const defaultAdminPort = 15420

// portPair is one intercepted port.
type portPair struct {
	listen int32 // where the sidecar listens
	app    int32 // where the app does
}

// options are the command line.
type options struct {
	ports     portPairs
	adminPort int
	store     string // folder of the mounted Secret; empty with rules
	labels    string // file of the downward API; empty: no labels
	rules     string // file with a rule set; empty with store
	version   bool
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

// parseFlags reads the command line. It prints help where that is asked for and
// returns flag.ErrHelp; other errors are for the caller to print.
func parseFlags(arguments []string, stderr io.Writer) (options, error) {
	parsed := options{}
	set := flag.NewFlagSet("sidecar", flag.ContinueOnError)
	set.SetOutput(io.Discard)
	set.Var(&parsed.ports, "port", "intercepted port as `LISTEN=APP`, such as 15480=8080; repeatable")
	set.IntVar(&parsed.adminPort, "admin-port", defaultAdminPort, "`port` of /healthz, /readyz and /metrics")
	set.StringVar(&parsed.store, "store", "", "`folder` with store.json (settings) and rules.json (snapshot); may appear later")
	set.StringVar(&parsed.labels, "labels", "", "`file` with the pod's labels, as the downward API writes it; absent: no labels")
	set.StringVar(&parsed.rules, "rules", "", "`file` with a compiled rule set, counted in memory, instead of --store; to try one out")
	set.BoolVar(&parsed.version, "version", false, "print the version and exit")
	err := set.Parse(arguments)
	if errors.Is(err, flag.ErrHelp) {
		fmt.Fprint(stderr, usageText)
		set.SetOutput(stderr)
		set.PrintDefaults()
		return options{}, flag.ErrHelp
	}
	if err != nil {
		return options{}, err
	}
	if parsed.version {
		return parsed, nil
	}
	if set.NArg() > 0 {
		return options{}, fmt.Errorf("unexpected argument %q", set.Arg(0))
	}
	return parsed, parsed.validate()
}

func (o options) validate() error {
	if len(o.ports) == 0 {
		return errors.New("flag --port is missing: name each intercepted port as LISTEN=APP, such as --port=15480=8080")
	}
	if (o.store == "") == (o.rules == "") {
		return errors.New("exactly one of the flags --store and --rules is needed: --store=FOLDER in a pod, --rules=FILE to try a rule set out")
	}
	if o.adminPort < 1 || o.adminPort > 65535 {
		return fmt.Errorf("flag --admin-port: %d is no port, want 1 to 65535", o.adminPort)
	}
	for _, pair := range o.ports {
		if int(pair.listen) == o.adminPort || int(pair.app) == o.adminPort {
			return fmt.Errorf("flag --admin-port: %d is also in --port=%d=%d", o.adminPort, pair.listen, pair.app)
		}
	}
	return nil
}
