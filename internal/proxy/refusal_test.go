// Copyright The Penstock Authors.
// SPDX-License-Identifier: Apache-2.0

package proxy

import (
	"context"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/penstock-dev/penstock/internal/limiter"
	"github.com/penstock-dev/penstock/internal/ruleset"
)

func refuseApp(t *testing.T) string {
	return startApp(t, func(http.ResponseWriter, *http.Request) { t.Error("the app got a refused request") })
}

func TestRefusalByQuota(t *testing.T) {
	t.Parallel()
	f := start(t, refuseApp(t), rulesOf(t, onePolicy()), refusing(11*time.Second+time.Microsecond))
	response, body := send(t, http.MethodGet, f.url, nil, nil)
	got := checkProblem(t, response, body, http.StatusTooManyRequests, `Limit "web/all/minute" allows 10 requests per minute, and that is used up. Try again in 12 seconds.`)
	if got.Type != "https://iana.org/assignments/http-problem-types#quota-exceeded" {
		t.Errorf("problem type is %q", got.Type)
	}
	if diff := cmp.Diff([]string{"web/all/minute"}, got.ViolatedPolicies); diff != "" {
		t.Errorf("violated policies (-want +got):\n%s", diff)
	}
	for field, want := range map[string]string{"Retry-After": "12", "X-RateLimit-Limit": "10", "X-RateLimit-Remaining": "0", "X-RateLimit-Reset": "30"} {
		if got := response.Header.Get(field); got != want {
			t.Errorf("%s is %q, want %q", field, got, want)
		}
	}
	if limits := response.Header.Get("RateLimit"); !strings.HasPrefix(limits, `"web/all/minute";r=0;t=12;pk=:`) {
		t.Errorf("RateLimit is %s", limits)
	}
}

// TestARefusalOfACostNamesWhatIsLeft must not say that nothing is.
func TestARefusalOfACostNamesWhatIsLeft(t *testing.T) {
	t.Parallel()
	state := limiter.LimitState{Policy: "web", Rule: "all", Limit: "minute", Requests: 20, Burst: 20, Window: time.Minute, Remaining: 3}
	const want = `Limit "web/all/minute" allows 20 requests per minute, and the 3 left are fewer than this request counts as. Try again in 2 seconds.`
	if got := quotaDetail(&state, false, 2); got != want {
		t.Errorf("got %s\nwant %s", got, want)
	}
}

func TestRetryAfter(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		decision limiter.Decision
		want     int64
	}{
		"rounded up":         {decision: limiter.Decision{RetryAfter: 2*time.Second + time.Microsecond}, want: 3},
		"whole":              {decision: limiter.Decision{RetryAfter: 2 * time.Second}, want: 2},
		"at least one":       {decision: limiter.Decision{RetryAfter: time.Microsecond}, want: 1},
		"unknown":            {decision: limiter.Decision{}, want: 1},
		"absent if never":    {decision: limiter.Decision{Never: true, RetryAfter: time.Second}, want: 0},
		"absent if admitted": {decision: limiter.Decision{Allowed: true, RetryAfter: time.Second}, want: 0},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if got := retryAfterSeconds(&tc.decision); got != tc.want {
				t.Errorf("retryAfterSeconds = %d, want %d", got, tc.want)
			}
		})
	}
}

func TestRefusalThatNoWaitingHelps(t *testing.T) {
	t.Parallel()
	never := func(_ context.Context, _ string, checks []limiter.Check) (limiter.Decision, error) {
		state := stateFor(checks[0])
		state.Allowed, state.Never = false, true
		return limiter.Decision{Never: true, Limits: []limiter.LimitState{state}}, nil
	}
	f := start(t, refuseApp(t), rulesOf(t, onePolicy()), never)
	response, body := send(t, http.MethodGet, f.url, nil, nil)
	checkProblem(t, response, body, http.StatusTooManyRequests, "Trying again will not help")
	if values, sent := response.Header["Retry-After"]; sent {
		t.Errorf("Retry-After is %q, want none", values)
	}
}

func TestRefusalOfHEADHasNoBody(t *testing.T) {
	t.Parallel()
	f := start(t, refuseApp(t), rulesOf(t, onePolicy()), refusing(time.Second))
	answer := f.exchange(t, "HEAD / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n")
	head, body, _ := strings.Cut(answer, "\r\n\r\n")
	if !strings.HasPrefix(head, "HTTP/1.1 429") || !strings.Contains(head, "Retry-After: 1") || body != "" {
		t.Errorf("answer is %q, want 429 with Retry-After and no body", answer)
	}
}

func TestRefusalWithoutStore(t *testing.T) {
	t.Parallel()
	policy := onePolicy()
	policy.Rules[0].OnStoreFailure = ruleset.FailDeny
	deny := func(_ context.Context, _ string, checks []limiter.Check) (limiter.Decision, error) {
		return undecided(checks), nil
	}
	f := start(t, refuseApp(t), rulesOf(t, policy), deny)
	response, body := send(t, http.MethodGet, f.url, nil, nil)
	got := checkProblem(t, response, body, http.StatusServiceUnavailable, "cannot be counted")
	if got.Type != "https://iana.org/assignments/http-problem-types#temporary-reduced-capacity" {
		t.Errorf("problem type is %q", got.Type)
	}
	if diff := cmp.Diff([]string{"web/all/minute"}, got.ViolatedPolicies); diff != "" {
		t.Errorf("violated policies (-want +got):\n%s", diff)
	}
	if retryAfter := response.Header.Get("Retry-After"); retryAfter != "1" {
		t.Errorf("Retry-After is %q, want 1", retryAfter)
	}
	if limits, told := response.Header["Ratelimit"]; told {
		t.Errorf("RateLimit is %q, want none: nobody counted", limits)
	}
}

func TestRefusalForMissingKey(t *testing.T) {
	t.Parallel()
	policy := onePolicy()
	policy.Rules[0].Key = []ruleset.KeyPart{{
		Name: "client", OnMissing: ruleset.MissingDeny, From: []ruleset.KeySource{{Kind: ruleset.SourceHeader, Name: "x-api-key"}},
	}}
	f := start(t, refuseApp(t), rulesOf(t, policy), func(context.Context, string, []limiter.Check) (limiter.Decision, error) {
		t.Error("a request without key was counted")
		return limiter.Decision{}, nil
	})
	response, body := send(t, http.MethodGet, f.url, nil, nil)
	checkProblem(t, response, body, http.StatusTooManyRequests, `Rule "web/all" counts requests by header X-Api-Key, and this request has none.`)
	if values, sent := response.Header["Retry-After"]; sent {
		t.Errorf("Retry-After is %q, want none", values)
	}
}

func TestRefusalOfGRPC(t *testing.T) {
	t.Parallel()
	f := start(t, refuseApp(t), rulesOf(t, onePolicy()), refusing(1500*time.Millisecond))
	for _, contentType := range []string{"application/grpc", "application/grpc+proto", "application/grpc; charset=utf-8"} {
		response, body := send(t, http.MethodPost, f.url, http.Header{"Content-Type": {contentType}}, strings.NewReader("x"))
		if response.StatusCode != http.StatusOK || body != "" {
			t.Errorf("%s: answer is %d with %q, want 200 without body", contentType, response.StatusCode, body)
		}
		for field, want := range map[string]string{"Content-Type": "application/grpc", "Grpc-Status": "8", "Grpc-Retry-Pushback-Ms": "1500"} {
			if got := response.Header.Get(field); got != want {
				t.Errorf("%s: %s is %q, want %q", contentType, field, got, want)
			}
		}
		if message := response.Header.Get("Grpc-Message"); !strings.Contains(message, "Try again in 2 seconds") {
			t.Errorf("%s: message is %q", contentType, message)
		}
	}
	if response, _ := send(t, http.MethodPost, f.url, http.Header{"Content-Type": {"application/grpc-web"}}, nil); response.StatusCode != http.StatusTooManyRequests {
		t.Errorf("grpc-web: answer is %d, want 429", response.StatusCode)
	}
	if got, want := percentEncode("50% für \n"), "50%25 f%C3%BCr %0A"; got != want {
		t.Errorf("percentEncode = %q, want %q", got, want)
	}
}

func TestMalformedPathIsRefusedWhereARuleLooksAtPaths(t *testing.T) {
	t.Parallel()
	policy := onePolicy()
	policy.Rules[0].Matches = []ruleset.Match{{Path: &ruleset.PathMatch{Type: ruleset.PathExact, Value: "/login"}}}
	f := start(t, startEcho(t), rulesOf(t, policy), admitting)
	response, body := send(t, http.MethodGet, f.url+"/%00", nil, nil)
	checkProblem(t, response, body, http.StatusBadRequest, "escape")
	f.server.SetRules(rulesOf(t, onePolicy()))
	if response, _ := send(t, http.MethodGet, f.url+"/%00", nil, nil); response.StatusCode != http.StatusOK {
		t.Errorf("without path rules: answer is %d, want 200", response.StatusCode)
	}
}

func TestPerText(t *testing.T) {
	t.Parallel()
	for window, want := range map[time.Duration]string{
		time.Second: "second", time.Minute: "minute", 5 * time.Minute: "5 minutes", time.Hour: "hour", 24 * time.Hour: "day",
		90 * time.Second: "90 seconds", 100 * time.Millisecond: "100ms", 48 * time.Hour: "2 days",
	} {
		if got := perText(window); got != want {
			t.Errorf("perText(%v) = %q, want %q", window, got, want)
		}
	}
	month := &limiter.LimitState{Calendar: &ruleset.Calendar{Period: ruleset.PeriodMonth, TimeZone: "Europe/Berlin"}}
	if got := periodText(month); got != "month (Europe/Berlin)" {
		t.Errorf("periodText of a month of the calendar = %q", got)
	}
}
