// Copyright The Penstock Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"errors"
	"flag"
	"fmt"
	"io"
	"log/slog"
	"regexp"

	"sigs.k8s.io/controller-runtime/pkg/client/config"

	"github.com/penstock-dev/penstock/internal/settings"
)

const (
	defaultNamespace   = "penstock-system"
	defaultMetrics     = ":8080"
	defaultHealth      = ":8081"
	defaultWebhookPort = 9443
	maxPort            = 65535
)

// options are the command line.
type options struct {
	embeddedStore string
	namespace     string
	sidecarImage  string
	// sidecarArguments are flags that all sidecars get.
	sidecarArguments []string
	leaderElect      bool
	metrics          string
	health           string
	webhookPort      int
	logLevel         slog.Level
	version          bool
}

// parseFlags reads the command line. Its errors say what to write instead.
func parseFlags(arguments []string, getenv func(string) string, output io.Writer) (*options, error) {
	o := &options{}
	flags := flag.NewFlagSet("manager", flag.ContinueOnError)
	// Usage is printed on request only: an error is one line.
	flags.SetOutput(io.Discard)
	config.RegisterFlags(flags)
	flags.StringVar(&o.embeddedStore, "embedded-store", "",
		"`ADDR` host:port on which to serve a store in memory, for trying things out; a RateLimitStore has to name it")
	flags.StringVar(&o.namespace, "namespace", or(getenv("POD_NAMESPACE"), defaultNamespace),
		"the operator's own `NAMESPACE`, with the Secrets that stores name; environment POD_NAMESPACE")
	flags.StringVar(&o.sidecarImage, "sidecar-image", getenv("PENSTOCK_SIDECAR_IMAGE"),
		"`IMAGE` of the injected sidecar, required; environment PENSTOCK_SIDECAR_IMAGE")
	flags.Var(settings.List(&o.sidecarArguments), "sidecar-argument",
		"`FLAG` that the webhook gives to each new sidecar, such as --idle-timeout=15m; repeatable; see sidecar --help")
	flags.BoolVar(&o.leaderElect, "leader-elect", false, "let one of several replicas reconcile; webhooks are served by all")
	flags.StringVar(&o.metrics, "metrics-bind-address", defaultMetrics, "`ADDR` of the metrics over HTTP; 0 serves none")
	flags.StringVar(&o.health, "health-probe-bind-address", defaultHealth, "`ADDR` of /healthz and /readyz; 0 serves none")
	flags.IntVar(&o.webhookPort, "webhook-port", defaultWebhookPort, "`PORT` of the webhook over HTTPS")
	flags.TextVar(&o.logLevel, "log-level", slog.LevelInfo, "`LEVEL` from which on to log: debug, info, warn or error")
	flags.BoolVar(&o.version, "version", false, "print the version")
	if err := settings.Parse(flags, arguments); err != nil {
		if errors.Is(err, flag.ErrHelp) {
			writeHelp(flags, output)
		}
		return nil, err
	}
	if o.version {
		return o, nil
	}
	return o, o.check(flags.Args())
}

// writeHelp writes what each flag says, with two dashes as everywhere.
func writeHelp(flags *flag.FlagSet, output io.Writer) {
	var text bytes.Buffer
	flags.SetOutput(&text)
	flags.PrintDefaults()
	fmt.Fprintf(output, "Usage: manager [flags]\n\nFlags:\n%s", oneDash.ReplaceAllString(text.String(), "  --"))
}

// oneDash begins the entry of a flag in the help of package flag.
var oneDash = regexp.MustCompile(`(?m)^  -`)

func (o *options) check(rest []string) error {
	switch {
	case len(rest) > 0:
		return fmt.Errorf("unexpected argument %q: everything is a flag", rest[0])
	case o.namespace == "":
		return errors.New("--namespace is empty: name the operator's own namespace")
	case o.sidecarImage == "":
		return errors.New("--sidecar-image is missing: name the image of the sidecar, or set PENSTOCK_SIDECAR_IMAGE")
	case o.webhookPort < 1 || o.webhookPort > maxPort:
		return fmt.Errorf("--webhook-port is %d: write a port from 1 to %d", o.webhookPort, maxPort)
	}
	return checkSidecarArguments(o.sidecarArguments)
}

func or(value, absent string) string {
	if value == "" {
		return absent
	}
	return value
}
