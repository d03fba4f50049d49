// Copyright The Penstock Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

const oneAnHour = "limits: [{name: hour, requests: 1, window: 1h}]"

// refusal is what of a refused answer a rule or policy may choose.
type refusal struct {
	Status            int
	ContentType, Body string
}

func refusalOf(t *testing.T, answer *http.Response) refusal {
	t.Helper()
	body, err := io.ReadAll(answer.Body)
	if err != nil {
		t.Fatal(err)
	}
	return refusal{Status: answer.StatusCode, ContentType: answer.Header.Get("Content-Type"), Body: string(body)}
}

// TestRefusalsOfOnesOwn sets how a rule refuses, and looks at the refusal after one
// request was admitted.
func TestRefusalsOfOnesOwn(t *testing.T) {
	t.Parallel()
	const slow = `body: {contentType: application/json, value: '{"error":"slow down"}'}`
	const keyed = "key: [{name: k, onMissing: Deny, from: [{header: {name: X-Key}}]}], "
	grpc := map[string]string{"Content-Type": "application/grpc"}
	tests := map[string]struct {
		rules string
		ask   ask
		want  refusal
		// wantBody is a part of the body, where it is a problem document.
		wantBody string
	}{
		"statusCode": {
			rules: "[{name: all, response: {statusCode: 503}, " + oneAnHour + "}]",
			want:  refusal{Status: 503, ContentType: "application/problem+json"}, wantBody: `"status":503`,
		},
		"body": {
			rules: "[{name: all, response: {" + slow + "}, " + oneAnHour + "}]",
			want:  refusal{Status: 429, ContentType: "application/json", Body: `{"error":"slow down"}`},
		},
		"statusCode and body": {
			rules: "[{name: all, response: {statusCode: 420, " + slow + "}, " + oneAnHour + "}]",
			want:  refusal{Status: 420, ContentType: "application/json", Body: `{"error":"slow down"}`},
		},
		"empty body": {
			rules: "[{name: all, response: {body: {contentType: text/plain, value: ''}}, " + oneAnHour + "}]",
			want:  refusal{Status: 429, ContentType: "text/plain"},
		},
		"HEAD has no body": {
			rules: "[{name: all, response: {statusCode: 420, " + slow + "}, " + oneAnHour + "}]", ask: ask{method: http.MethodHead},
			want: refusal{Status: 420, ContentType: "application/json"},
		},
		"gRPC keeps its own": {
			rules: "[{name: all, response: {statusCode: 420, " + slow + "}, " + oneAnHour + "}]", ask: ask{method: http.MethodPost, header: grpc},
			want: refusal{Status: 200, ContentType: "application/grpc"},
		},
		"onMissing Deny": {
			rules: "[{name: all, response: {statusCode: 401, " + slow + "}, " + keyed + oneAnHour + "}]",
			want:  refusal{Status: 401, ContentType: "application/json", Body: `{"error":"slow down"}`},
		},
		"the rule that refuses the longest": {
			rules: "[{name: a, response: {statusCode: 420}, limits: [{name: l, requests: 1, window: 1m}]}, {name: b, response: {" + slow + "}, " + oneAnHour + "}]",
			want:  refusal{Status: 429, ContentType: "application/json", Body: `{"error":"slow down"}`},
		},
		"of the rule that refuses": {
			rules: "[{name: a, response: {statusCode: 420}, limits: [{name: l, requests: 9, window: 24h}]}, {name: b, " + oneAnHour + "}]",
			want:  refusal{Status: 429, ContentType: "application/problem+json"}, wantBody: `"violated-policies":["web/b/hour"]`,
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			server := startRun(t, "rules: "+tc.rules, memoryStore)
			server.send(tc.ask)
			answer := server.send(tc.ask)
			got := refusalOf(t, answer)
			if tc.wantBody != "" {
				if !strings.Contains(got.Body, tc.wantBody) {
					t.Errorf("body is %s, want %s in it", got.Body, tc.wantBody)
				}
				got.Body = ""
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("refusal (-want +got):\n%s", diff)
			}
			missing := name == "onMissing Deny"
			if told := answer.Header.Get("RateLimit") != ""; told == missing {
				t.Errorf("RateLimit is told: %t", told)
			}
			if wait := answer.Header.Get("Retry-After") != ""; wait == (missing || name == "gRPC keeps its own") {
				t.Errorf("Retry-After is %q", answer.Header.Get("Retry-After"))
			}
		})
	}
}

// TestScriptsReadRefusals has a policy echo origins.
func TestScriptsReadRefusals(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		origin     string
		wantOrigin string
	}{
		"response cors Echo":     {origin: "https://shop.example.com", wantOrigin: "https://shop.example.com"},
		"with a port":            {origin: "http://localhost:3000", wantOrigin: "http://localhost:3000"},
		"an IPv6 address":        {origin: "http://[::1]:3000", wantOrigin: "http://[::1]:3000"},
		"of an app":              {origin: "chrome-extension://abcdef", wantOrigin: "chrome-extension://abcdef"},
		"opaque":                 {origin: "null", wantOrigin: "null"},
		"none":                   {},
		"a list":                 {origin: "https://a.example.com, https://b.example.com"},
		"with a path":            {origin: "https://a.example.com/x"},
		"any":                    {origin: "*"},
		"of markup":              {origin: `https://a"><script>`},
		"longer than a name can": {origin: "https://" + strings.Repeat("a", 300)},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			server := startRun(t, "response: {cors: Echo}\nrules: [{name: all, "+oneAnHour+"}]", memoryStore)
			sent := ask{header: map[string]string{"Origin": tc.origin}}
			if tc.origin == "" {
				sent = ask{}
			}
			if admitted := server.send(sent); admitted.Header.Get("Access-Control-Allow-Origin") != "" {
				t.Error("the app's answer was given an origin")
			}
			answer := server.send(sent)
			if got := answer.Header.Get("Access-Control-Allow-Origin"); got != tc.wantOrigin {
				t.Errorf("Access-Control-Allow-Origin is %q, want %q", got, tc.wantOrigin)
			}
			wantExposed := tc.wantOrigin != ""
			exposed := answer.Header.Get("Access-Control-Expose-Headers")
			if strings.Contains(exposed, "Retry-After") != wantExposed || (answer.Header.Get("Access-Control-Allow-Credentials") == "true") != wantExposed {
				t.Errorf("exposed are %q, want %t", exposed, wantExposed)
			}
			if answer.StatusCode != refused || answer.Header.Get("Vary") != "Origin" || strings.Contains(answer.Header.Get("RateLimit"), "pk=") {
				t.Errorf("status %d, Vary %q, RateLimit %q", answer.StatusCode, answer.Header.Get("Vary"), answer.Header.Get("RateLimit"))
			}
		})
	}
	t.Run("where a key is missing", func(t *testing.T) {
		t.Parallel()
		server := startRun(t, "response: {cors: Echo}\nrules: [{name: all, key: [{name: k, onMissing: Deny, from: [{header: {name: X-Key}}]}], "+oneAnHour+"}]", memoryStore)
		answer := server.send(ask{header: map[string]string{"Origin": "https://shop.example.com"}})
		if got := answer.Header.Get("Access-Control-Allow-Origin"); got != "https://shop.example.com" || answer.StatusCode != refused {
			t.Errorf("status %d, Access-Control-Allow-Origin %q", answer.StatusCode, got)
		}
	})
}

// TestPreflightsAreNotCounted asks with OPTIONS where one request an hour is admitted.
func TestPreflightsAreNotCounted(t *testing.T) {
	t.Parallel()
	preflight := map[string]string{"Origin": "https://shop.example.com", "Access-Control-Request-Method": "PUT"}
	const deny = "key: [{name: k, onMissing: Deny, from: [{header: {name: Authorization}}]}], "
	tests := map[string]struct {
		spec   string
		header map[string]string
		want   int
	}{
		"a preflight":               {"response: {cors: Echo}\nrules: [{name: all, " + oneAnHour + "}]", preflight, allowed},
		"without its key":           {"response: {cors: Echo}\nrules: [{name: all, " + deny + oneAnHour + "}]", preflight, allowed},
		"cors None":                 {"response: {cors: None}\nrules: [{name: all, " + oneAnHour + "}]", preflight, refused},
		"no method is asked for":    {"response: {cors: Echo}\nrules: [{name: all, " + oneAnHour + "}]", map[string]string{"Origin": "https://shop.example.com"}, refused},
		"of no origin":              {"response: {cors: Echo}\nrules: [{name: all, " + oneAnHour + "}]", map[string]string{"Access-Control-Request-Method": "PUT"}, refused},
		"to a path that is no path": {"response: {cors: Echo}\nrules: [{name: all, matches: [{path: {value: /a}}], " + oneAnHour + "}]", preflight, allowed},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			server := startRun(t, tc.spec, memoryStore)
			path := ""
			if strings.Contains(tc.spec, "/a") {
				path = "/a%00"
			}
			var got int
			for range 3 {
				got = server.send(ask{method: http.MethodOptions, path: path, header: tc.header}).StatusCode
			}
			if got != tc.want {
				t.Errorf("the third was answered with %d, want %d", got, tc.want)
			}
		})
	}
}

// TestShareThatIsEnforced asks far more often than the limit admits. The bounds are
// six standard deviations wide.
func TestShareThatIsEnforced(t *testing.T) {
	t.Parallel()
	const requests = 400
	tests := map[string]struct {
		rule string
		// least and most are how many may be refused.
		least, most int
		// told says that answers tell of the limit.
		told bool
	}{
		"enforcePercent 25":  {"enforcePercent: 25, ", 48, 152, true},
		"enforcePercent 0":   {"enforcePercent: 0, ", 0, 0, false},
		"enforcePercent 100": {"enforcePercent: 100, ", requests - 1, requests - 1, true},
		"onMissing Deny":     {"enforcePercent: 50, key: [{name: k, onMissing: Deny, from: [{header: {name: X-Key}}]}], ", 140, 260, false},
	}
	for store, open := range memoryAndRedis(t) {
		for name, tc := range tests {
			t.Run(store+"/"+name, func(t *testing.T) {
				t.Parallel()
				server := startRun(t, "rules: [{name: all, "+tc.rule+oneAnHour+"}]", open())
				count := 0
				for range requests {
					answer := server.send(ask{})
					if answer.StatusCode == refused {
						count++
					}
					remaining := answer.Header.Get("X-RateLimit-Remaining")
					if told := answer.Header.Get("RateLimit") != "" && remaining == "0"; name != "onMissing Deny" && told != tc.told {
						t.Errorf("answer %d tells RateLimit %q and X-RateLimit-Remaining %q, want that it tells of the limit: %v",
							answer.StatusCode, answer.Header.Get("RateLimit"), remaining, tc.told)
					}
				}
				if count < tc.least || count > tc.most {
					t.Errorf("%d of %d requests were refused, want %d to %d", count, requests, tc.least, tc.most)
				}
				if got := server.decisions("all", "denied"); int(got) != count {
					t.Errorf("%v were counted as denied, want %d", got, count)
				}
				if got := server.decisions("all", "shadow_denied"); int(got) < requests-1-count {
					t.Errorf("%v were counted as shadow_denied, want at least %d", got, requests-1-count)
				}
			})
		}
	}
}
