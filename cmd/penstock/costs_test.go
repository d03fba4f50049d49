// Copyright The Penstock Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"net/http"
	"strconv"
	"testing"
)

// sayApp answers with the status and the cost that a request asks for.
func sayApp(w http.ResponseWriter, request *http.Request) {
	if cost := request.Header.Get("Say-Cost"); cost != "" {
		w.Header().Set("X-Cost", cost)
	}
	status, err := strconv.Atoi(request.Header.Get("Say-Status"))
	if err != nil {
		status = http.StatusOK
	}
	w.WriteHeader(status)
}

// TestCostsInForce sends requests against a limit of ten in an hour.
func TestCostsInForce(t *testing.T) {
	t.Parallel()
	type step struct {
		ask
		want int
	}
	items := func(value string) ask { return ask{header: map[string]string{"X-Items": value}} }
	query := func(query string) ask { return ask{path: "/?" + query} }
	cost := func(value string) ask { return ask{header: map[string]string{"Say-Cost": value}} }
	status := func(code int) ask { return ask{header: map[string]string{"Say-Status": strconv.Itoa(code)}} }
	const unauthorized, forbidden = http.StatusUnauthorized, http.StatusForbidden
	tests := map[string]struct {
		cost  string
		steps []step
	}{
		"request value":       {"{request: {value: 4}}", []step{{ask{}, allowed}, {ask{}, allowed}, {ask{}, refused}}},
		"request value of 0":  {"{request: {value: 0}}", []step{{ask{}, allowed}, {ask{}, allowed}, {ask{}, allowed}}},
		"request header":      {"{request: {header: {name: X-Items}}}", []step{{items("6"), allowed}, {items("5"), refused}, {items("4"), allowed}, {items("1"), refused}}},
		"no request header":   {"{request: {header: {name: X-Items}}}", []step{{ask{}, allowed}, {items("9"), allowed}, {ask{}, refused}}},
		"a header of nothing": {"{request: {header: {name: X-Items}}}", []step{{items("-9"), allowed}, {items("0"), allowed}, {items("many"), allowed}, {items("1.5"), allowed}, {items("6"), allowed}, {ask{}, refused}}},
		"more than there is":  {"{request: {header: {name: X-Items}}}", []step{{items("99999999999999999999"), allowed}, {ask{}, refused}}},
		"request max":         {"{request: {header: {name: X-Items}, max: 3}}", []step{{items("99999999999999999999"), allowed}, {items("7"), allowed}, {items("4"), allowed}, {items("3"), refused}, {items("1"), allowed}}},
		"request queryParam":  {"{request: {queryParam: {name: limit}}}", []step{{query("limit=5"), allowed}, {query("a=b&lim%69t=1&limit=4"), allowed}, {query("limit=2"), refused}, {query("limit="), allowed}}},
		"response header":     {"{response: {header: x-cost}}", []step{{cost("5"), allowed}, {cost("-3"), allowed}, {cost("2"), allowed}, {ask{}, refused}}},
		"response max":        {"{response: {header: X-Cost, max: 3}}", []step{{cost("900"), allowed}, {cost("900"), allowed}, {cost("0"), allowed}, {ask{}, allowed}, {ask{}, refused}}},
		"request and response": {
			"{request: {value: 2}, response: {header: X-Cost}}",
			[]step{{cost("5"), allowed}, {cost("1"), allowed}, {ask{}, refused}},
		},
		"countOn statusCodes": {
			"{request: {value: 5}, countOn: {statusCodes: ['401', '403']}}",
			[]step{{status(200), 200}, {status(500), 500}, {status(401), unauthorized}, {status(404), 404}, {status(403), forbidden}, {status(200), refused}},
		},
		"countOn and response": {
			"{response: {header: X-Cost}, countOn: {statusCodes: ['200']}}",
			[]step{{ask{header: map[string]string{"Say-Cost": "8", "Say-Status": "404"}}, 404}, {cost("8"), allowed}, {cost("8"), allowed}, {ask{}, refused}},
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			server := startRunOf(t, "rules: [{name: all, cost: "+tc.cost+", limits: [{name: hour, requests: 10, window: 1h, algorithm: SlidingWindowLog}]}]", memoryStore, sayApp)
			for i, step := range tc.steps {
				answer := server.send(step.ask)
				if answer.StatusCode != step.want {
					t.Errorf("request %d (%+v) was answered with %d, want %d", i+1, step.ask, answer.StatusCode, step.want)
				}
				if said := step.header["Say-Cost"]; step.want != refused && answer.Header.Get("X-Cost") != said {
					t.Errorf("request %d: X-Cost is %q, want what the app said: %q", i+1, answer.Header.Get("X-Cost"), said)
				}
			}
		})
	}
}

// TestFailuresAreCountedByEveryAlgorithm has each algorithm that can give back count
// failed logins only, in memory and in Redis.
func TestFailuresAreCountedByEveryAlgorithm(t *testing.T) {
	t.Parallel()
	for _, algorithm := range []string{"TokenBucket", "SlidingWindowLog", "SlidingWindowCounter", "FixedWindow"} {
		for name, store := range memoryAndRedis(t) {
			t.Run(algorithm+" in "+name, func(t *testing.T) {
				t.Parallel()
				server := startRunOf(t, "rules: [{name: all, cost: {countOn: {statusCodes: ['401']}}, limits: [{name: day, requests: 3, window: 24h, algorithm: "+algorithm+"}]}]", store(), sayApp)
				failed := ask{header: map[string]string{"Say-Status": "401"}}
				for range 3 {
					// What a good login was charged is given back soon.
					for range 5 {
						server.eventually(allowed, "after good logins")
					}
					// The give-back of the login before may still be on its way; a refusal changes nothing.
					server.eventuallyTo(failed, http.StatusUnauthorized, "as a failed login")
				}
				for range 3 {
					if got := server.send(ask{}).StatusCode; got != refused {
						t.Errorf("after three failed logins one is answered with %d", got)
					}
				}
			})
		}
	}
}
