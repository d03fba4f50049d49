// Copyright The Penstock Authors.
// SPDX-License-Identifier: Apache-2.0

package proxy

import (
	"net/http"
	"net/http/httputil"
	"time"

	"github.com/penstock-dev/penstock/internal/match"
)

// portHandler serves one intercepted port of the app.
type portHandler struct {
	server  *Server
	appPort int32
	// appHost is the host that the app is told of where the client names none.
	appHost string
	forward *httputil.ReverseProxy
}

// ServeHTTP decides about a request and forwards or refuses it.
func (p *portHandler) ServeHTTP(w http.ResponseWriter, request *http.Request) {
	started := time.Now()
	writer := &answerWriter{ResponseWriter: w, isHTTP2: request.ProtoMajor == 2, isClosing: p.server.draining.Load}
	tunnels, owed := 0, settlement{}
	writer.hijacked = func() {
		tunnels++
		p.server.tunnels.Add(1)
	}
	// The deferred call also runs when the reverse proxy aborts an answer by
	// panicking, as net/http wants it.
	defer func() {
		owed.settle(writer)
		p.server.tunnels.Add(-tunnels)
		p.server.metrics.requestSeconds.Observe(time.Since(started).Seconds())
	}()
	if refusal, ok := unservable(request); !ok {
		writeAnswer(writer, refusal)
		return
	}
	rules, err := p.server.gate.await(request.Context())
	if err != nil {
		writer.WriteHeader(statusClientGone)
		return
	}
	if rules == nil {
		p.server.metrics.noRules.Inc()
	} else {
		var admitted bool
		if owed, admitted = p.admit(writer, request, rules); !admitted {
			return
		}
	}
	if request.ProtoMajor == 1 {
		// The app may answer before it has the whole body: net/http would first wait
		// for some of that. It cannot fail on a writer of net/http.
		_ = http.NewResponseController(w).EnableFullDuplex()
	}
	p.forward.ServeHTTP(writer, request)
}

// admit reports whether a request may pass, and has answered it if not. One that may
// has waited for its turn, and owes a settlement once it is answered.
func (p *portHandler) admit(writer *answerWriter, request *http.Request, rules *inForce) (settlement, bool) {
	found, err := rules.Matcher.Match(&requestView{request: request, appPort: p.appPort, appHost: p.appHost})
	p.server.metrics.countShadowDenied(found.ShadowDenied)
	p.server.expressionsFailed(found.ExpressionErrors)
	p.server.metrics.countUnverified(found.UnverifiedTokens)
	p.server.metrics.countExempt(found.Exempt)
	rules.proxies.look(request, rules.Matcher, &found, p.server.logger)
	switch {
	case err != nil:
		// The only error that there is: match.ErrBadPath.
		writeAnswer(writer, problemAnswer(problem{
			Title: "Malformed path", Status: http.StatusBadRequest,
			Detail: "The path has an escape that is not % and two hex digits, a NUL, or so odd a spelling that it cannot be told what it means. A limit here depends on the path.",
		}))
		return settlement{}, false
	case found.Denied != nil:
		policy, rule := found.Denied.Policy, found.Denied.Rule
		p.server.metrics.countOutcome(policy.Kind, policy.Name, rule.Name, outcomeDenied)
		refusal := refuseMissing(found.Denied, isGRPC(request.Header))
		if policy.Response.EchoOrigin {
			echoOrigin(refusal.header, request.Header)
		}
		writeAnswer(writer, refusal)
		p.server.observing.lacking(request.Method, writer, found.Denied)
		return settlement{}, false
	case len(found.Hits) == 0:
		return settlement{}, true
	}
	return p.decide(writer, request, rules, found.Hits)
}

// decide has the limits of the rules that a request meets decided.
func (p *portHandler) decide(writer *answerWriter, request *http.Request, rules *inForce, hits []match.Hit) (settlement, bool) {
	started := time.Now()
	checks := checksFor(rules, hits, started)
	if len(checks) == 0 {
		return settlement{}, true
	}
	decision, err := p.server.decider.Decide(request.Context(), rules.Namespace, checks)
	p.server.metrics.decisionSeconds.Observe(time.Since(started).Seconds())
	if err != nil {
		if request.Context().Err() != nil {
			writer.WriteHeader(statusClientGone)
			return settlement{}, false
		}
		p.server.logger.Warn("Deciding about a request failed", "error", err)
		p.server.metrics.StoreError("undecided")
		decision = undecided(checks)
	}
	p.server.metrics.countDecision(&decision)
	writer.fields = newLimitFields(&decision, responseOf(hits))
	if !decision.Allowed {
		refusal := refuse(&decision, hits, isGRPC(request.Header))
		if echoesOrigin(&decision, hits) {
			echoOrigin(refusal.header, request.Header)
			writer.fields.hidePartitions()
		}
		writeAnswer(writer, refusal)
		p.server.observing.refused(request.Method, writer, decision.Limits)
		return settlement{}, false
	}
	if !p.server.waitForTurn(request.Context(), decision.Delay) {
		decision.Receipt.Cancel()
		writer.WriteHeader(statusClientGone)
		return settlement{}, false
	}
	return settlement{receipt: decision.Receipt, hits: hits}, true
}
