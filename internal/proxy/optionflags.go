// Copyright The Penstock Authors.
// SPDX-License-Identifier: Apache-2.0

package proxy

import (
	"cmp"
	"errors"
	"flag"
	"fmt"
	"strings"

	"github.com/penstock-dev/penstock/internal/settings"
)

const (
	defaultRefusalLogs    = 10
	defaultKeyLabelSeries = 100
	// mostKeyLabelSeries and mostKeyLabels keep what Prometheus has to store bounded.
	mostKeyLabelSeries = 10_000
	mostKeyLabels      = 100
	// mostBytes bounds sizes that are kept for each connection.
	mostBytes = 64 << 20
	// mostConnections is above what one process can have open.
	mostConnections = 1 << 20
)

// AddFlags defines the flags of a server's options, which get their defaults by it.
// Once they are parsed Check is to be called.
func (o *Options) AddFlags(groups *settings.Groups) {
	o.Bounds = o.Bounds.withDefaults()
	o.NoRulesWait = cmp.Or(o.NoRulesWait, defaultNoRulesWait)
	o.addClientFlags(groups.Group("Clients"))
	o.addAppFlags(groups.Group("The app"))
	o.addLifeFlags(groups.Group("Start and end"))
	o.addObservingFlags(groups.Group("What is told of requests"))
}

func (o *Options) addClientFlags(g *settings.Group) {
	b := &o.Bounds
	g.Var(settings.Duration(&b.ReadHeaderTimeout), "read-header-timeout", "how `LONG` a client may take to send a request's header")
	g.Var(settings.Duration(&b.IdleTimeout), "idle-timeout", "how `LONG` a client's connection may be without requests; keep it above that of what is in front, such as 600s of many load balancers")
	g.Var(settings.Size(&b.MaxHeaderBytes, 1<<10, 1<<20), "max-header-bytes", "`SIZE` that a request's header may have, request line included")
	g.Var(settings.Int(&b.MaxConcurrentStreams, 1, 1<<16), "http2-max-streams", "`NUMBER` of requests that an HTTP/2 connection may have under way")
	g.Var(settings.Size(&b.MaxReadFrameSize, 16<<10, 1<<24-1), "http2-max-frame-bytes", "`SIZE` of the longest HTTP/2 frame that is read")
	g.Var(settings.Size(&b.MaxReceiveBufferPerConnection, 64<<10, mostBytes), "http2-connection-buffer-bytes", "`SIZE` of bodies that an HTTP/2 connection may send ahead of the app")
	g.Var(settings.Size(&b.MaxReceiveBufferPerStream, 16<<10, mostBytes), "http2-stream-buffer-bytes", "`SIZE` of its body that an HTTP/2 request may send ahead of the app")
	g.Var(settings.Duration(&b.PingInterval), "http2-ping-interval", "after how `LONG` a silence an HTTP/2 client is asked whether it is still there")
	g.Var(settings.Duration(&b.PingTimeout), "http2-ping-timeout", "how `LONG` it may take to say so")
}

func (o *Options) addAppFlags(g *settings.Group) {
	b := &o.Bounds
	g.Var(settings.Duration(&b.DialTimeout), "dial-timeout", "how `LONG` a connection to the app may take")
	g.Var(settings.Duration(&b.UpstreamIdleTimeout), "upstream-idle-timeout", "how `LONG` an idle connection to the app is kept; keep it below the app's own, or requests are lost")
	g.Var(settings.Int(&b.MaxIdleUpstream, 1, mostConnections), "max-idle-upstream", "`NUMBER` of idle connections that are kept to each port of the app")
	g.Var(settings.Duration(&b.ExpectContinueTimeout), "expect-continue-timeout", "how `LONG` a body is held back for an app that does not answer to Expect: 100-continue")
	g.Var(&forwardedFor{preserve: &o.PreserveForwardedFor}, "forwarded-for", "`HOW` X-Forwarded-For goes on: Append adds the client's address, Preserve leaves it as it was sent")
}

func (o *Options) addLifeFlags(g *settings.Group) {
	g.Var(settings.Duration(&o.NoRulesWait), "no-rules-wait", "how `LONG` requests wait for the first rules before they are served without")
	g.Var(settings.Duration(&o.Bounds.ShutdownTimeout), "shutdown-timeout", "how `LONG` answers under way may take once the program is to end")
}

func (o *Options) addObservingFlags(g *settings.Group) {
	o.RefusalLogsPerSecond = cmp.Or(o.RefusalLogsPerSecond, defaultRefusalLogs)
	o.KeyLabelSeries = cmp.Or(o.KeyLabelSeries, defaultKeyLabelSeries)
	g.Var(settings.Int(&o.RefusalLogsPerSecond, 0, 100_000), "refusal-logs-per-second", "`NUMBER` of refusals that are logged in a second at most, at level info; 0 logs none")
	g.Var(&ruleNameList{to: &o.KeyLabels}, "key-labels", "rules as `POLICY/RULE,...` whose refusals are also counted by the hash of the identity, in penstock_identity_refusals_total; repeatable")
	g.Var(settings.Int(&o.KeyLabelSeries, 1, mostKeyLabelSeries), "key-label-series", "`NUMBER` of identities that are counted by themselves; others are counted as \"other\"")
}

// Check says which options contradict each other.
func (o *Options) Check() error {
	b := &o.Bounds
	switch {
	case b.MaxReceiveBufferPerStream > b.MaxReceiveBufferPerConnection:
		return fmt.Errorf("--http2-stream-buffer-bytes=%d is more than --http2-connection-buffer-bytes=%d, which all requests of a connection share: lower the first or raise the second",
			b.MaxReceiveBufferPerStream, b.MaxReceiveBufferPerConnection)
	case len(o.KeyLabels) == 0 && o.KeyLabelSeries != defaultKeyLabelSeries:
		return fmt.Errorf("--key-label-series=%d has no effect without --key-labels: name rules there, or leave it out", o.KeyLabelSeries)
	case len(o.KeyLabels) > mostKeyLabels:
		return fmt.Errorf("--key-labels names %d rules, at most %d", len(o.KeyLabels), mostKeyLabels)
	}
	return nil
}

// The values of --forwarded-for.
const (
	appendForwardedFor   = "Append"
	preserveForwardedFor = "Preserve"
)

type forwardedFor struct{ preserve *bool }

var _ flag.Value = (*forwardedFor)(nil)

func (f *forwardedFor) String() string {
	if f.preserve != nil && *f.preserve {
		return preserveForwardedFor
	}
	return appendForwardedFor
}

func (f *forwardedFor) Set(text string) error {
	if text != appendForwardedFor && text != preserveForwardedFor {
		return errors.New("want " + appendForwardedFor + " or " + preserveForwardedFor)
	}
	*f.preserve = text == preserveForwardedFor
	return nil
}

type ruleNameList struct{ to *[]RuleName }

var _ settings.Repeatable = (*ruleNameList)(nil)

func (l *ruleNameList) IsRepeatable() bool { return true }

func (l *ruleNameList) String() string {
	if l.to == nil {
		return ""
	}
	texts := make([]string, len(*l.to))
	for i, name := range *l.to {
		texts[i] = name.String()
	}
	return strings.Join(texts, ",")
}

func (l *ruleNameList) Set(text string) error {
	for name := range strings.SplitSeq(text, ",") {
		name = strings.TrimSpace(name)
		at := strings.LastIndexByte(name, '/')
		if at < 1 || at == len(name)-1 {
			return fmt.Errorf("%q names no rule: want POLICY/RULE, such as storefront/login, or cluster/floor/all for a ClusterRateLimitPolicy", name)
		}
		*l.to = append(*l.to, RuleName{Policy: name[:at], Rule: name[at+1:]})
	}
	return nil
}
