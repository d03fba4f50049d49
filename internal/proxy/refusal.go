// Copyright The Penstock Authors.
// SPDX-License-Identifier: Apache-2.0

package proxy

import (
	"fmt"
	"net/http"
	"strings"
	"time"

	"github.com/penstock-dev/penstock/internal/limiter"
	"github.com/penstock-dev/penstock/internal/match"
	"github.com/penstock-dev/penstock/internal/ruleset"
)

// minRetryAfter is the least Retry-After, in seconds: 0 would say "at once", which
// is never so for a refused request.
const minRetryAfter = 1

// retryAfterSeconds is the Retry-After of a refusal: rounded up, at least 1. It
// is 0, which stands for none, where waiting does not help.
func retryAfterSeconds(decision *limiter.Decision) int64 {
	if decision.Allowed || decision.Never {
		return 0
	}
	return max(wholeSeconds(decision.RetryAfter), minRetryAfter)
}

// refuse is the answer to a request that a limit refused, or that could not be
// counted and must not pass uncounted. The rule of the speaking limit says how it looks.
func refuse(decision *limiter.Decision, hits []match.Hit, isGRPC bool) answer {
	retryAfter := retryAfterSeconds(decision)
	violated := violatedLimits(decision.Limits)
	if len(violated) == 0 {
		return refuseUncounted(decision, retryAfter, isGRPC)
	}
	names := limitNames(violated)
	detail := quotaDetail(violated[0], decision.Never, retryAfter)
	if isGRPC {
		return grpcAnswer(grpcResourceExhausted, detail, retryPushback(decision))
	}
	var own *ruleset.Refusal
	if hit := hitOf(hits, violated[0]); hit != nil {
		own = hit.Rule.Refusal
	}
	refusal := quotaAnswer(own, detail, names)
	setRetryAfter(refusal.header, retryAfter)
	return refusal
}

// quotaAnswer is a refusal as a rule wants it; nil is the usual one.
func quotaAnswer(own *ruleset.Refusal, detail string, violated []string) answer {
	status := http.StatusTooManyRequests
	if own != nil {
		status = own.StatusCode
	}
	if own != nil && own.Body != nil {
		return answer{status: status, header: http.Header{"Content-Type": {own.Body.ContentType}}, body: []byte(own.Body.Value)}
	}
	return problemAnswer(problem{
		Type: problemQuotaExceeded, Title: titleQuotaExceeded, Status: status, Detail: detail, ViolatedPolicies: violated,
	})
}

// hitOf is the rule that a limit belongs to, as the request met it.
func hitOf(hits []match.Hit, state *limiter.LimitState) *match.Hit {
	for i := range hits {
		hit := &hits[i]
		if hit.Rule.Name == state.Rule && hit.Policy.Name == state.Policy && hit.Policy.Kind == state.Kind {
			return hit
		}
	}
	return nil
}

// refuseUncounted is the answer of onStoreFailure: Deny.
func refuseUncounted(decision *limiter.Decision, retryAfter int64, isGRPC bool) answer {
	const detail = "Requests are counted against a limit here, and just now they cannot be counted. Try again shortly."
	if isGRPC {
		return grpcAnswer(grpcUnavailable, detail, retryPushback(decision))
	}
	var names []string
	for i := range decision.Limits {
		if !decision.Limits[i].Allowed && !decision.Limits[i].Shadow {
			names = append(names, limitName(&decision.Limits[i]))
		}
	}
	refusal := problemAnswer(problem{
		Type: problemReducedCapacity, Title: titleReducedCapacity, Status: http.StatusServiceUnavailable,
		Detail: detail, ViolatedPolicies: names,
	})
	setRetryAfter(refusal.header, retryAfter)
	return refusal
}

// refuseMissing is the answer to a request that lacks what a rule counts by,
// where the policy says onMissing: Deny. To such a request the rule grants
// nothing, so it is a quota that is exceeded, and no waiting helps: the answer
// has no Retry-After.
func refuseMissing(denied *match.Denied, isGRPC bool) answer {
	name := ruleset.PolicyLabel(denied.Policy.Kind, denied.Policy.Name) + "/" + denied.Rule.Name
	has, mend := "none", "Send it to be admitted."
	if denied.Unverified != nil {
		// Why, is for those who run the app: it would tell who forges tokens how far they got.
		has, mend = lackedToken(denied.Claim), "Its token was not accepted; send one that is to be admitted."
	}
	detail := fmt.Sprintf("Rule %q counts requests by %s, and this request has %s. %s", name, sourceNames(denied.Part), has, mend)
	if isGRPC {
		return grpcAnswer(grpcResourceExhausted, detail, noPushback)
	}
	return quotaAnswer(denied.Rule.Refusal, detail, []string{name})
}

// lackedToken is what a request lacks whose token was not verified. It names the claim as
// the policy does, and nothing of the token.
func lackedToken(claim string) string { return fmt.Sprintf("no verified token with claim %q", claim) }

func setRetryAfter(header http.Header, seconds int64) {
	if seconds > 0 {
		header["Retry-After"] = []string{integerText(seconds)}
	}
}

// violatedLimits are the counted limits that refuse, the speaking one first. A
// shadow refuses nothing.
func violatedLimits(limits []limiter.LimitState) []*limiter.LimitState {
	var violated []*limiter.LimitState
	for i := range limits {
		state := &limits[i]
		if !state.Allowed && !state.Shadow && state.Source != limiter.StoreDenied {
			violated = append(violated, state)
		}
	}
	return violated
}

func limitNames(limits []*limiter.LimitState) []string {
	names := make([]string, len(limits))
	for i, state := range limits {
		names[i] = limitName(state)
	}
	return names
}

// quotaDetail tells a person what happened and what to do.
func quotaDetail(state *limiter.LimitState, never bool, retryAfter int64) string {
	if never {
		return fmt.Sprintf("This request counts as more than limit %q ever holds (%d). Trying again will not help.",
			limitName(state), state.Burst)
	}
	if hasNoWindow(state) {
		return fmt.Sprintf("Limit %q allows %s at once, and all are being answered. Try again in %s.",
			limitName(state), amount(state.Requests, "request"), amount(retryAfter, "second"))
	}
	allowed := amount(state.Requests, "request") + " per " + periodText(state)
	if state.Burst != state.Requests {
		allowed += fmt.Sprintf(", at most %d at once", state.Burst)
	}
	left := "that is used up"
	if state.Remaining > 0 {
		left = fmt.Sprintf("the %d left are fewer than this request counts as", state.Remaining)
	}
	return fmt.Sprintf("Limit %q allows %s, and %s. Try again in %s.", limitName(state), allowed, left, amount(retryAfter, "second"))
}

// hasNoWindow says that a limit counts requests at once.
func hasNoWindow(state *limiter.LimitState) bool { return state.Window == 0 && state.Calendar == nil }

func amount(n int64, unit string) string {
	if n == 1 {
		return "1 " + unit
	}
	return fmt.Sprintf("%d %ss", n, unit)
}

// periodText is a limit's window as it is said after "per".
func periodText(state *limiter.LimitState) string {
	if state.Calendar != nil {
		return strings.ToLower(string(state.Calendar.Period)) + " (" + state.Calendar.TimeZone + ")"
	}
	return perText(state.Window)
}

// perText is a window as it is said after "per": "minute", "5 minutes".
func perText(window time.Duration) string {
	for _, unit := range []struct {
		length time.Duration
		name   string
	}{{24 * time.Hour, "day"}, {time.Hour, "hour"}, {time.Minute, "minute"}, {time.Second, "second"}} {
		switch {
		case window == unit.length:
			return unit.name
		case window > 0 && window%unit.length == 0:
			return amount(int64(window/unit.length), unit.name)
		}
	}
	return window.String()
}

// sourceNames lists where a part of a key may come from.
func sourceNames(part *ruleset.KeyPart) string {
	var names []string
	for i := range part.From {
		names = append(names, part.From[i].Words())
	}
	return strings.Join(names, " or ")
}
