//go:build e2e

// Copyright The Penstock Authors.
// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"encoding/json"
	"net/http"
	"testing"
)

// testAnswers looks at refusals as clients get them, and at rules that do not always refuse.
func (c *cluster) testAnswers(t *testing.T) {
	t.Run("own status and body", func(t *testing.T) {
		got := c.send(t, 1, repeat(2, ask{path: "/answers/own"})...)[1]
		if got.Status != http.StatusServiceUnavailable || got.Body != `{"error":"slow down"}` || got.Header.Get("Content-Type") != "application/json" {
			t.Errorf("refused with %+v, want 503 and the rule's own body", got)
		}
	})
	t.Run("standard answer", func(t *testing.T) {
		got := c.send(t, 1, repeat(2, ask{path: "/answers/standard"})...)
		var problem struct {
			Status int
			Names  []string `json:"violated-policies"`
		}
		if err := json.Unmarshal([]byte(got[1].Body), &problem); err != nil || problem.Status != got[1].Status || len(problem.Names) != 1 {
			t.Errorf("the body %q is no problem of one policy: %v", got[1].Body, err)
		}
		for i, want := range []map[string]string{
			{"X-Ratelimit-Limit": "1", "X-Ratelimit-Remaining": "0", "Retry-After": "", "Content-Type": "application/json"},
			{"X-Ratelimit-Limit": "1", "X-Ratelimit-Remaining": "0", "Retry-After": "86400", "Content-Type": "application/problem+json"},
		} {
			for name, value := range want {
				if found := got[i].Header.Get(name); found != value {
					t.Errorf("answer %d, %d: %s is %q, want %q", i+1, got[i].Status, name, found, value)
				}
			}
		}
	})
	t.Run("for scripts of other origins", c.testCORS)
	t.Run("Shadow refuses nobody", func(t *testing.T) {
		c.wantAnswers(t, each(200, repeat(5, ask{path: "/answers/shadow"})...), each(200, repeat(5, ask{path: "/answers/rehearsal"})...))
		for policy, rule := range map[string]string{"answers": "shadow", "shadowed": "everyone"} {
			if would := totalOf(c.metric(t, "api", "penstock_decisions_total", `outcome="shadow_denied"`, `policy="`+policy+`"`, `rule="`+rule+`"`)); would != 4 {
				t.Errorf("%s/%s would have refused %v requests, want 4", policy, rule, would)
			}
		}
	})
	t.Run("half of what is over the limit", func(t *testing.T) {
		// Of 400 draws at one half, 130 to 270 are as good as certain: seven deviations.
		got := statuses(c.send(t, 20, repeat(401, ask{path: "/answers/half"})...))
		if refused := got[http.StatusTooManyRequests]; refused < 130 || refused > 270 || got[http.StatusOK] != 401-refused {
			t.Errorf("answers by status: %v, want about half of 401 refused", got)
		}
	})
}

// testCORS is a browser's script of another origin, on a rule that is used up.
func (c *cluster) testCORS(t *testing.T) {
	const origin = "https://pages.example.com"
	script := ask{path: "/answers/standard", header: map[string]string{"Origin": origin}}
	got := c.send(t, 1, script)[0]
	if got.Status != http.StatusTooManyRequests || got.Header.Get("Access-Control-Allow-Origin") != origin {
		t.Errorf("refused with %+v, want 429 that scripts of %s may read", got, origin)
	}
	preflight := ask{method: http.MethodOptions, path: script.path, header: map[string]string{"Origin": origin, "Access-Control-Request-Method": "GET"}}
	c.wantAnswers(t, each(200, repeat(3, preflight)...), each(429, script))
}
