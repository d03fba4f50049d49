// Copyright The Penstock Authors.
// SPDX-License-Identifier: Apache-2.0

package proxy

import (
	"cmp"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/url"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"github.com/penstock-dev/penstock/internal/appprobe"
	"github.com/penstock-dev/penstock/internal/match"
)

const defaultNoRulesWait = 10 * time.Second

// Port is one port of the app that requests are intercepted for.
type Port struct {
	// Listen are the addresses that stand in for the app's port, as host:port.
	Listen []string
	// AppPort is the number of the app's port, which policies name.
	AppPort int32
	// Upstream is where the app is: host:port, or a URL of scheme http or
	// https without a path.
	Upstream string
}

// Options are the optional settings of a Server.
type Options struct {
	// Admin are the addresses of /healthz, /readyz, /metrics, /probe and, on loopback,
	// /debug; absent is none.
	Admin []string
	// NoRulesWait is how long requests wait for the first rules before they
	// are served without; absent is 10 s.
	NoRulesWait time.Duration
	// Bounds are what no client and no app may take more of.
	Bounds Bounds
	// PreserveForwardedFor leaves X-Forwarded-For as it was sent, instead of
	// appending the peer.
	PreserveForwardedFor bool
	// RefusalLogsPerSecond is how many refusals are logged in a second at most; 0 logs
	// none.
	RefusalLogsPerSecond int
	// KeyLabels are the rules whose refusals are counted by identity, in at most
	// KeyLabelSeries series.
	KeyLabels      []RuleName
	KeyLabelSeries int
	// Prober performs the app's probes for the admin listener; absent knows none.
	Prober *appprobe.Prober
	// StoreState tells of the store; absent is unknown.
	StoreState func() StoreState
	// Metrics absent is a fresh set.
	Metrics *Metrics
	// Logger absent is the default one.
	Logger *slog.Logger
}

// Server is the request path for all ports of one app.
type Server struct {
	ports     []*portServer
	admin     *adminServer
	decider   Decider
	gate      *rulesGate
	metrics   *Metrics
	observing *observing
	// appFailureLog tells of requests that the app did not answer.
	appFailureLog *sampledLog
	// expressionLog tells of expressions that gave no value.
	expressionLog *sampledLog
	logger        *slog.Logger
	options       Options
	transport     *protocolTransport

	draining   atomic.Bool
	drainBegun chan struct{}
	beginDrain func()
	// tunnels counts the connections that became WebSockets, or are of TLS.
	tunnels sync.WaitGroup
}

// New makes a server that is not listening yet. Requests wait until SetRules is
// called or Options.NoRulesWait is over.
func New(ports []Port, decider Decider, options Options) (*Server, error) {
	options.NoRulesWait = cmp.Or(options.NoRulesWait, defaultNoRulesWait)
	options.Bounds = options.Bounds.withDefaults()
	s := &Server{
		decider: decider, options: options, gate: newRulesGate(), transport: newTransport(options.Bounds),
		metrics: options.Metrics, logger: cmp.Or(options.Logger, slog.Default()), drainBegun: make(chan struct{}),
	}
	s.appFailureLog, s.expressionLog = newAppFailureLog(s.logger), newExpressionLog(s.logger)
	if s.metrics == nil {
		s.metrics = NewMetrics()
	}
	if s.options.Prober == nil {
		s.options.Prober = appprobe.NewProber("", nil)
	}
	var err error
	if s.observing, err = newObserving(&s.options, s.metrics, s.logger); err != nil {
		return nil, err
	}
	if err := s.metrics.watchRulesetAge(s.gate); err != nil {
		return nil, fmt.Errorf("register metrics: %w", err)
	}
	s.beginDrain = sync.OnceFunc(func() {
		s.draining.Store(true)
		close(s.drainBegun)
	})
	for _, port := range ports {
		upstream, err := parseUpstream(port.Upstream)
		if err != nil {
			return nil, fmt.Errorf("port %d: %w", port.AppPort, err)
		}
		s.ports = append(s.ports, s.newPort(port, upstream))
	}
	s.admin = newAdminServer(s)
	return s, nil
}

// parseUpstream reads host:port or a URL without a path.
func parseUpstream(upstream string) (*url.URL, error) {
	if host, port, err := net.SplitHostPort(upstream); err == nil && host != "" {
		if _, err := strconv.ParseUint(port, 10, 16); err == nil {
			return &url.URL{Scheme: "http", Host: upstream}, nil
		}
	}
	parsed, err := url.Parse(upstream)
	if err != nil {
		return nil, fmt.Errorf("parse upstream %q: %w", upstream, err)
	}
	isHTTP := parsed.Scheme == "http" || parsed.Scheme == "https"
	if !isHTTP || parsed.Host == "" || parsed.User != nil || parsed.RawQuery != "" || parsed.Path != "" && parsed.Path != "/" {
		return nil, fmt.Errorf("parse upstream %q: it is neither host:port nor an http or https URL without path, such as http://127.0.0.1:8080", upstream)
	}
	return parsed, nil
}

// SetRules puts rules in force for the requests that begin from now on.
func (s *Server) SetRules(rules *Rules) {
	s.metrics.rulesSet(rules.Revision)
	if before := s.gate.set(rules); before == nil || before.Matcher != rules.Matcher {
		s.forgetOthers(rules.Matcher)
	}
}

// forgetOthers removes what was counted under rules and providers that are no more.
func (s *Server) forgetOthers(matcher *match.Matcher) {
	rules := ruleNames(matcher)
	s.observing.heaviest.retain(rules)
	s.observing.labels.retain(rules)
	if err := errors.Join(s.metrics.retain(rules), s.metrics.retainProviders(matcher)); err != nil {
		s.logger.Warn("Series of rules that are no more stay", "error", err)
	}
}

// ConfirmRules tells that the rules in force are still the newest.
func (s *Server) ConfirmRules() { s.gate.confirm() }

// Metrics are the server's metrics, for those who count what it cannot see.
func (s *Server) Metrics() *Metrics { return s.metrics }
