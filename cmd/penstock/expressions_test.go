// Copyright The Penstock Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"net/http"
	"strconv"
	"testing"
	"time"
)

// withHeaders is a request with header fields, each name before its value.
func withHeaders(namesAndValues ...string) ask {
	header := make(map[string]string)
	for i := 0; i < len(namesAndValues); i += 2 {
		header[namesAndValues[i]] = namesAndValues[i+1]
	}
	return ask{header: header}
}

// TestExpressionsInForce sets each field that holds an expression.
func TestExpressionsInForce(t *testing.T) {
	t.Parallel()
	const oneAnHour = "limits: [{name: hour, requests: 1, window: 1h}]"
	const tiers = "rules: [{name: all, " + oneAnHour + `, tiers: [
      {name: enterprise, when: "request.headers['x-plan'] == 'enterprise'", unlimited: {}},
      {name: pro, when: "request.headers['x-plan'].startsWith('pro')", limits: [{name: hour, requests: 2, window: 1h}]},
      {name: shadowed, when: "request.headers['x-plan'] == 'prof'", unlimited: {}}]}]`
	type step struct {
		ask
		want int
	}
	plan := func(name string) ask { return withHeaders("X-Plan", name) }
	tests := map[string]struct {
		spec  string
		steps []step
		// wantErrors is how many expressions of the rule gave no value.
		wantErrors float64
	}{
		"when": {
			spec:  `rules: [{name: all, when: ["request.headers['x-test'] != '1'", "request.method in ['GET', 'PUT']"], ` + oneAnHour + "}]",
			steps: []step{{withHeaders("X-Test", "1"), allowed}, {ask{method: "POST"}, allowed}, {ask{}, allowed}, {ask{method: "PUT"}, refused}, {withHeaders("X-Test", "1"), allowed}},
		},
		"when by path and client": {
			spec:  `rules: [{name: all, when: ["request.path.startsWith('/login') && request.clientIP.inCIDR('127.0.0.0/8')"], ` + oneAnHour + "}]",
			steps: []step{{ask{path: "/other"}, allowed}, {ask{path: "/login"}, allowed}, {ask{path: "/x/%2e%2e/LOGIN"}, refused}, {ask{path: "/other"}, allowed}},
		},
		"when by template, query and host": {
			spec:  `rules: [{name: all, matches: [{methods: [GET]}], when: ["request.query['debug'] == 'a,b' && request.host == 'shop.example.com' && request.scheme == 'http'"], ` + oneAnHour + "}]",
			steps: []step{{ask{path: "/?debug=a&d%65bug=b", header: map[string]string{"Host": "shop.example.com:80"}}, allowed}, {ask{path: "/?debug=a", header: map[string]string{"Host": "shop.example.com"}}, allowed}, {ask{path: "/?debug=a&debug=b", header: map[string]string{"Host": "SHOP.example.com"}}, refused}},
		},
		"when that fails": {
			spec:       `rules: [{name: all, when: ["int(request.headers['x-number']) > 10"], ` + oneAnHour + "}]",
			steps:      []step{{withHeaders("X-Number", "9"), allowed}, {withHeaders("X-Number", "no"), allowed}, {withHeaders("X-Number", "no"), refused}, {withHeaders("X-Number", "9"), allowed}},
			wantErrors: 2,
		},
		"tiers limits":    {spec: tiers, steps: []step{{plan("pro"), allowed}, {plan("prof"), allowed}, {plan("pro"), refused}, {ask{}, allowed}, {ask{}, refused}}},
		"tiers unlimited": {spec: tiers, steps: []step{{ask{}, allowed}, {plan("enterprise"), allowed}, {plan("enterprise"), allowed}, {plan("enterprise"), allowed}, {ask{}, refused}}},
		"tiers without limits of the rule": {
			spec:  `rules: [{name: all, tiers: [{name: free, when: "request.headers['x-plan'] == ''", ` + oneAnHour + "}]}]",
			steps: []step{{ask{}, allowed}, {plan("pro"), allowed}, {plan("pro"), allowed}, {ask{}, refused}},
		},
		"an unlimited tier needs no key": {
			spec: "rules: [{name: all, " + oneAnHour + `, key: [{name: k, from: [{header: {name: X-Key}}], onMissing: Deny}], tiers: [
      {name: staff, when: "request.headers['x-plan'] == 'staff'", unlimited: {}}]}]`,
			steps: []step{{plan("staff"), allowed}, {plan("staff"), allowed}, {ask{}, refused}, {withHeaders("X-Key", "1"), allowed}, {withHeaders("X-Key", "1"), refused}},
		},
		"an unlimited tier of a query that is parted in two ways": {
			spec: "rules: [{name: all, " + oneAnHour + `, tiers: [{name: staff, when: "request.query['plan'] == 'staff'", unlimited: {}}]}]`,
			steps: []step{
				{ask{path: "/?plan=staff"}, allowed}, {ask{path: "/?plan=staff&x=;"}, allowed}, {ask{path: "/?x;plan=staff"}, allowed},
				{ask{path: "/?x;plan=staff"}, refused}, {ask{path: "/?plan=staff"}, allowed},
			},
		},
		"tiers that fail": {
			spec:       "rules: [{name: all, " + oneAnHour + `, tiers: [{name: lucky, when: "int(request.headers['x-plan']) > 1", unlimited: {}}]}]`,
			steps:      []step{{plan("2"), allowed}, {plan("two"), allowed}, {plan("two"), refused}, {plan("2"), allowed}},
			wantErrors: 2,
		},
		"an odd spelling is not unlimited": {
			spec:  `rules: [{name: all, matches: [{path: {value: /}}], ` + oneAnHour + `, tiers: [{name: internal, when: "request.headers['x-plan'] == 'internal'", unlimited: {}}]}]`,
			steps: []step{{withPath("/a", plan("internal")), allowed}, {withPath("/%61", plan("internal")), allowed}, {withPath("/%61", plan("internal")), refused}, {withPath("/a", plan("internal")), allowed}},
		},
		"a spelling of which a tier is for some readings": {
			spec:  "rules: [{name: all, " + oneAnHour + `, tiers: [{name: cheap, when: "request.path.startsWith('/cheap/')", limits: [{name: hour, requests: 100, window: 1h}]}]}]`,
			steps: []step{{ask{path: "/cheap/%2e%2e/dear"}, http.StatusBadRequest}, {ask{path: "/cheap/a%2fb"}, allowed}, {ask{path: "/dear"}, allowed}, {ask{path: "/dear"}, refused}, {ask{path: "/cheap/x"}, allowed}},
		},
		"exempt when": {
			spec:  `exempt: {when: ["request.method == 'OPTIONS'", "request.headers['x-test'] == '1'"]}` + "\nrules: [{name: all, " + oneAnHour + "}]",
			steps: []step{{ask{}, allowed}, {ask{}, refused}, {ask{method: "OPTIONS"}, allowed}, {withHeaders("X-Test", "1"), allowed}, {ask{}, refused}},
		},
		"exempt when by path": {
			spec:  `exempt: {when: ["request.path == '/healthz'"]}` + "\nrules: [{name: all, " + oneAnHour + "}]",
			steps: []step{{ask{path: "/healthz"}, allowed}, {ask{path: "/%68ealthz"}, allowed}, {ask{path: "/%68ealthz"}, refused}, {ask{path: "/healthz"}, allowed}},
		},
		"exempt when that fails": {
			spec:  `exempt: {when: ["int(request.headers['x-test']) == 1"]}` + "\nrules: [{name: all, " + oneAnHour + "}]",
			steps: []step{{withHeaders("X-Test", "1"), allowed}, {ask{}, allowed}, {ask{}, refused}},
		},
		"key expression": {
			spec:  `rules: [{name: all, key: [{name: tenant, onMissing: Skip, from: [{expression: "request.headers['x-tenant'].lowerAscii()"}]}], ` + oneAnHour + "}]",
			steps: []step{{withHeaders("X-Tenant", "a"), allowed}, {withHeaders("X-Tenant", "b"), allowed}, {withHeaders("X-Tenant", "A"), refused}, {ask{}, allowed}, {ask{}, allowed}},
		},
		"key expression that fails": {
			spec:       `rules: [{name: all, key: [{name: tenant, onMissing: Deny, from: [{expression: "request.headers['x-tenant'].substring(4)"}]}], ` + oneAnHour + "}]",
			steps:      []step{{withHeaders("X-Tenant", "org:a"), allowed}, {withHeaders("X-Tenant", "a"), refused}, {withHeaders("X-Tenant", "org:b"), allowed}},
			wantErrors: 1,
		},
		"cost expression": {
			spec:       `rules: [{name: all, cost: {request: {expression: "int(request.query['items']) * 2", max: 3}}, limits: [{name: hour, requests: 10, window: 1h, algorithm: SlidingWindowLog}]}]`,
			steps:      []step{{ask{path: "/?items=99"}, allowed}, {ask{path: "/?items=1"}, allowed}, {ask{path: "/?items=-5"}, allowed}, {ask{path: "/?items=x"}, allowed}, {ask{path: "/"}, allowed}, {ask{path: "/?items=2"}, refused}, {ask{path: "/?items=1"}, allowed}, {ask{path: "/?items=1"}, refused}},
			wantErrors: 2,
		},
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
			if tc.wantErrors > 0 {
				if got := server.count(`penstock_expression_errors_total{policy="web",rule="all"}`); got != tc.wantErrors {
					t.Errorf("%v expressions failed, want %v", got, tc.wantErrors)
				}
			}
		})
	}
}

func withPath(path string, a ask) ask {
	a.path = path
	return a
}

// TestTierLimitsInForce has the limits of tiers count as those of rules do: it looks at
// when the next request will be admitted.
func TestTierLimitsInForce(t *testing.T) {
	t.Parallel()
	const day = 24 * 60 * 60
	kathmandu := time.FixedZone("Asia/Kathmandu", 5*60*60+45*60)
	tests := map[string]struct {
		limit string
		want  func(time.Time) int
	}{
		"window":                         {"{name: l, requests: 1, window: 90m}", func(time.Time) int { return 90 * 60 }},
		"burst":                          {"{name: l, requests: 1, window: 90m, burst: 1}", func(time.Time) int { return 90 * 60 }},
		"algorithm TokenBucket":          {"{name: l, requests: 1, window: 24h, algorithm: TokenBucket}", func(time.Time) int { return day }},
		"algorithm LeakyBucket":          {"{name: l, requests: 1, window: 30s, burst: 1, algorithm: LeakyBucket}", func(time.Time) int { return 30 }},
		"algorithm SlidingWindowLog":     {"{name: l, requests: 1, window: 24h, algorithm: SlidingWindowLog}", func(time.Time) int { return day }},
		"algorithm SlidingWindowCounter": {"{name: l, requests: 1, window: 24h, algorithm: SlidingWindowCounter}", func(now time.Time) int { return 2*day - int(now.Unix()%day) }},
		"algorithm FixedWindow":          {"{name: l, requests: 1, window: 24h, algorithm: FixedWindow}", func(now time.Time) int { return day - int(now.Unix()%day) }},
		"calendar Day":                   {"{name: l, requests: 1, calendar: {period: Day}}", func(now time.Time) int { return day - int(now.Unix()%day) }},
		"calendar Week":                  {"{name: l, requests: 1, calendar: {period: Week}}", func(now time.Time) int { return untilDate(now.UTC(), 0, 7-(int(now.UTC().Weekday())+6)%7) }},
		"calendar Month":                 {"{name: l, requests: 1, calendar: {period: Month}}", func(now time.Time) int { return untilDate(now.UTC(), 1, 1-now.UTC().Day()) }},
		"calendar timeZone":              {"{name: l, requests: 1, calendar: {period: Day, timeZone: Asia/Kathmandu}}", func(now time.Time) int { return untilDate(now.In(kathmandu), 0, 1) }},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			server := startRun(t, `rules: [{name: all, tiers: [{name: each, when: "true", limits: [`+tc.limit+"]}]}]", memoryStore)
			server.send(ask{})
			want := tc.want(time.Now())
			answer := server.send(ask{})
			got, err := strconv.Atoi(answer.Header.Get("Retry-After"))
			if err != nil || got > want || got < want-5 {
				t.Errorf("status %d, Retry-After %q, want %d or a few seconds less", answer.StatusCode, answer.Header.Get("Retry-After"), want)
			}
		})
	}
	t.Run("algorithm Concurrency", func(t *testing.T) {
		t.Parallel()
		arrived, goOn := make(chan struct{}), make(chan struct{})
		server := startRunOf(t, `rules: [{name: all, tiers: [{name: each, when: "true", limits: [{name: l, requests: 1, algorithm: Concurrency}]}]}]`, memoryStore,
			func(http.ResponseWriter, *http.Request) {
				arrived <- struct{}{}
				<-goOn
			})
		status := make(chan int, 1)
		go func() { status <- server.send(ask{}).StatusCode }()
		<-arrived
		if got := server.send(ask{}).StatusCode; got != refused {
			t.Errorf("a second request at once was answered with %d", got)
		}
		close(goOn)
		if got := <-status; got != allowed {
			t.Errorf("the first request was answered with %d", got)
		}
	})
}
