// Copyright The Penstock Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"net/http"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/penstock-dev/penstock/test/redistest"
)

const (
	allowed = http.StatusOK
	refused = http.StatusTooManyRequests
)

// TestFieldsInForce sets each field of a policy that is enforced and looks at what
// it does to requests, through the whole request path.
func TestFieldsInForce(t *testing.T) {
	t.Parallel()
	const oneAnHour = "limits: [{name: hour, requests: 1, window: 1h}]"
	type step struct {
		ask
		want int
	}
	key := func(value string) map[string]string { return map[string]string{"X-API-Key": value} }
	tests := map[string]struct {
		spec  string
		steps []step
	}{
		"mode Enforce":  {"mode: Enforce\nrules: [{name: all, " + oneAnHour + "}]", []step{{ask{}, allowed}, {ask{}, refused}}},
		"mode Disabled": {"mode: Disabled\nrules: [{name: all, " + oneAnHour + "}]", []step{{ask{}, allowed}, {ask{}, allowed}}},
		"mode Shadow":   {"mode: Shadow\nrules: [{name: all, " + oneAnHour + "}]", []step{{ask{}, allowed}, {ask{}, allowed}}},
		"mode Shadow of a rule": {
			"rules: [{name: all, mode: Shadow, " + oneAnHour + "}, {name: two, limits: [{name: hour, requests: 2, window: 1h}]}]",
			[]step{{ask{}, allowed}, {ask{}, allowed}, {ask{}, refused}},
		},
		"evaluation All":       {"evaluation: All\nrules: [{name: two, limits: [{name: hour, requests: 2, window: 1h}]}, {name: one, " + oneAnHour + "}]", []step{{ask{}, allowed}, {ask{}, refused}}},
		"clientIP source Peer": {"clientIP: {source: Peer}\nrules: [{name: all, key: [{name: client, from: [{clientIP: {}}]}], " + oneAnHour + "}]", []step{{ask{header: map[string]string{"X-Forwarded-For": "192.0.2.1"}}, allowed}, {ask{header: map[string]string{"X-Forwarded-For": "192.0.2.2"}}, refused}}},
		"key clientIP":         {"rules: [{name: all, key: [{name: client, from: [{clientIP: {}}]}], " + oneAnHour + "}]", []step{{ask{from: "127.0.0.1"}, allowed}, {ask{from: "127.0.0.2"}, allowed}, {ask{from: "127.0.0.1"}, refused}}},
		"key header":           {"rules: [{name: all, key: [{name: client, from: [{header: {name: X-API-Key}}]}], " + oneAnHour + "}]", []step{{ask{header: key("a")}, allowed}, {ask{header: key("b")}, allowed}, {ask{header: key("a")}, refused}}},
		"onMissing Share":      {"rules: [{name: all, key: [{name: client, onMissing: Share, from: [{header: {name: X-API-Key}}]}], " + oneAnHour + "}]", []step{{ask{}, allowed}, {ask{}, refused}, {ask{header: key("a")}, allowed}}},
		"onMissing Skip":       {"rules: [{name: all, key: [{name: client, onMissing: Skip, from: [{header: {name: X-API-Key}}]}], " + oneAnHour + "}]", []step{{ask{}, allowed}, {ask{}, allowed}, {ask{header: key("a")}, allowed}, {ask{header: key("a")}, refused}}},
		"onMissing Deny":       {"rules: [{name: all, key: [{name: client, onMissing: Deny, from: [{header: {name: X-API-Key}}]}], " + oneAnHour + "}]", []step{{ask{}, refused}, {ask{header: key("a")}, allowed}}},
		"pathMatching Loose":   {"pathMatching: Loose\nrules: [{name: login, matches: [{path: {type: Exact, value: /login}}], " + oneAnHour + "}]", []step{{ask{path: "/login"}, allowed}, {ask{path: "/LOGIN/"}, refused}}},
		"pathMatching Strict":  {"pathMatching: Strict\nrules: [{name: login, matches: [{path: {type: Exact, value: /login}}], " + oneAnHour + "}]", []step{{ask{path: "/login"}, allowed}, {ask{path: "/LOGIN/"}, allowed}, {ask{path: "/login"}, refused}}},
		"matches path Exact":   {"rules: [{name: login, matches: [{path: {type: Exact, value: /login}}], " + oneAnHour + "}]", []step{{ask{path: "/login"}, allowed}, {ask{path: "/login/now"}, allowed}, {ask{path: "/login"}, refused}}},
		"matches path PathPrefix": {
			"rules: [{name: login, matches: [{path: {type: PathPrefix, value: /login}}], " + oneAnHour + "}]",
			[]step{{ask{path: "/login/now"}, allowed}, {ask{path: "/loginnow"}, allowed}, {ask{path: "/login"}, refused}},
		},
		"matches methods": {"rules: [{name: writes, matches: [{methods: [POST, PUT]}], " + oneAnHour + "}]", []step{{ask{method: "POST"}, allowed}, {ask{}, allowed}, {ask{method: "PUT"}, refused}}},
		"limits requests": {"rules: [{name: all, limits: [{name: hour, requests: 3, window: 1h}]}]", []step{{ask{}, allowed}, {ask{}, allowed}, {ask{}, allowed}, {ask{}, refused}}},
		"limits burst":    {"rules: [{name: all, limits: [{name: hour, requests: 1, window: 1h, burst: 2}]}]", []step{{ask{}, allowed}, {ask{}, allowed}, {ask{}, refused}}},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			server := startRun(t, tc.spec, memoryStore)
			for i, step := range tc.steps {
				if got := server.send(step.ask).StatusCode; got != step.want {
					t.Errorf("request %d (%+v) was answered with %d, want %d", i+1, step.ask, got, step.want)
				}
			}
		})
	}
}

// TestAnswerFieldsInForce looks at the header of an admitted and a refused answer.
func TestAnswerFieldsInForce(t *testing.T) {
	t.Parallel()
	const rules = "\nrules: [{name: login, limits: [{name: hour, requests: 1, window: 1h}]}]"
	const standard, legacy, draft, limits = "RateLimit", "X-Ratelimit-Limit", "Ratelimit-Limit", "Ratelimit-Policy"
	tests := map[string]struct {
		spec        string
		wantAllowed []string
		wantRefused []string
	}{
		"response headers RateLimit":  {"response: {headers: [RateLimit]}", []string{standard, limits}, []string{standard, limits}},
		"response headers XRateLimit": {"response: {headers: [XRateLimit]}", []string{legacy}, []string{legacy}},
		"response headers Draft03":    {"response: {headers: [Draft03]}", []string{draft}, []string{draft}},
		"response headers None":       {"response: {headers: [None]}", nil, nil},
		"response onAllowed Include":  {"response: {onAllowed: Include}", []string{standard, limits, legacy}, []string{standard, limits, legacy}},
		"response onAllowed Omit":     {"response: {onAllowed: Omit}", nil, []string{standard, limits, legacy}},
		"response cors None":          {"response: {cors: None, headers: [None]}", nil, nil},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			server := startRun(t, tc.spec+rules, memoryStore)
			for i, want := range [][]string{tc.wantAllowed, tc.wantRefused} {
				answer := server.send(ask{header: map[string]string{"Origin": "https://shop.example.com"}})
				var got []string
				for _, field := range []string{standard, limits, legacy, draft, "Access-Control-Allow-Origin"} {
					if answer.Header.Get(field) != "" {
						got = append(got, field)
					}
				}
				if diff := cmp.Diff(want, got); diff != "" {
					t.Errorf("fields of answer %d, status %d (-want +got):\n%s", i+1, answer.StatusCode, diff)
				}
			}
		})
	}
	t.Run("names of rule and limit", func(t *testing.T) {
		t.Parallel()
		answer := startRun(t, strings.TrimSpace(rules), memoryStore).send(ask{})
		if got := answer.Header.Get("RateLimit-Policy"); !strings.HasPrefix(got, `"web/login/hour";`) {
			t.Errorf("RateLimit-Policy: %s, want it to name web/login/hour", got)
		}
	})
}

// TestWindowsInForce looks at when the next request will be admitted.
func TestWindowsInForce(t *testing.T) {
	t.Parallel()
	const day = 24 * 60 * 60
	kathmandu := time.FixedZone("Asia/Kathmandu", 5*60*60+45*60)
	tests := map[string]struct {
		limit string
		// want is the wait in seconds after the limit was used up at the time.
		want func(time.Time) int
	}{
		"limits window":              {"{name: l, requests: 1, window: 90m}", func(time.Time) int { return 90 * 60 }},
		"algorithm TokenBucket":      {"{name: l, requests: 1, window: 24h, algorithm: TokenBucket}", func(time.Time) int { return day }},
		"algorithm SlidingWindowLog": {"{name: l, requests: 1, window: 24h, algorithm: SlidingWindowLog}", func(time.Time) int { return day }},
		"calendar Day":               {"{name: l, requests: 1, calendar: {period: Day}}", func(now time.Time) int { return day - int(now.Unix()%day) }},
		"calendar Week":              {"{name: l, requests: 1, calendar: {period: Week}}", func(now time.Time) int { return untilDate(now.UTC(), 0, 7-(int(now.UTC().Weekday())+6)%7) }},
		"calendar Month":             {"{name: l, requests: 1, calendar: {period: Month}}", func(now time.Time) int { return untilDate(now.UTC(), 1, 1-now.UTC().Day()) }},
		"calendar timeZone":          {"{name: l, requests: 1, calendar: {period: Day, timeZone: Asia/Kathmandu}}", func(now time.Time) int { return untilDate(now.In(kathmandu), 0, 1) }},
		// One request weighs until the window after its own ends.
		"algorithm SlidingWindowCounter": {"{name: l, requests: 1, window: 24h, algorithm: SlidingWindowCounter}", func(now time.Time) int { return 2*day - int(now.Unix()%day) }},
		"algorithm FixedWindow":          {"{name: l, requests: 1, window: 24h, algorithm: FixedWindow}", func(now time.Time) int { return day - int(now.Unix()%day) }},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			server := startRun(t, "rules: [{name: all, limits: ["+tc.limit+"]}]", memoryStore)
			server.send(ask{})
			want := tc.want(time.Now())
			answer := server.send(ask{})
			got, err := strconv.Atoi(answer.Header.Get("Retry-After"))
			if err != nil || got > want || got < want-5 {
				t.Errorf("status %d, Retry-After %q, want %d or a few seconds less", answer.StatusCode, answer.Header.Get("Retry-After"), want)
			}
		})
	}
}

// untilDate is the seconds until the midnight that begins a day so many months and
// days from now.
func untilDate(now time.Time, months, days int) int {
	year, month, day := now.Date()
	midnight := time.Date(year, month+time.Month(months), day+days, 0, 0, 0, 0, now.Location())
	return int((midnight.Sub(now) + time.Second - 1) / time.Second)
}

// TestStoreFailureDecides stops the store under a running limiter.
func TestStoreFailureDecides(t *testing.T) {
	t.Parallel()
	const requests = 8
	tests := map[string]struct {
		rule        string
		wantAllowed int
		wantStatus  int
	}{
		"Local":                {"onStoreFailure: Local", 3, refused},
		"Local with looseness": {"local: {looseness: '2.5'}", 5, refused},
		"Allow":                {"onStoreFailure: Allow", requests, allowed},
		"Deny":                 {"onStoreFailure: Deny", 0, http.StatusServiceUnavailable},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			redis := redistest.Start(t)
			server := startRun(t, "rules: [{name: all, "+tc.rule+", limits: [{name: hour, requests: 2, window: 1h}]}]", "redis://"+redis.Addr())
			redis.Stop()
			admitted, last := 0, 0
			for range requests {
				last = server.send(ask{}).StatusCode
				if last == allowed {
					admitted++
				}
			}
			if admitted != tc.wantAllowed || last != tc.wantStatus {
				t.Errorf("%d of %d requests were admitted, the last answer was %d; want %d and %d", admitted, requests, last, tc.wantAllowed, tc.wantStatus)
			}
		})
	}
}
