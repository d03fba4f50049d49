//go:build e2e

// Copyright The Penstock Authors.
// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"fmt"
	"net/http"
	"slices"
	"testing"
	"time"
)

// testCosts has requests cost what they, or their answers, say.
func (c *cluster) testCosts(t *testing.T) {
	t.Run("told by the request", func(t *testing.T) {
		weighing := func(weight string) ask {
			return ask{path: "/costs/asked", header: map[string]string{"X-Weight": weight}}
		}
		// More than 10 counts as 10.
		c.wantAnswers(t, []step{{weighing("7"), 200}, {weighing("999"), 200}, {weighing("4"), 429}, {weighing("3"), 200}, {ask{path: "/costs/asked"}, 429}})
	})
	t.Run("told by the answer", func(t *testing.T) {
		c.wantAnswers(t, each(200, ask{path: "/costs/told?cost=9"}))
		c.eventuallyAnswered(t, ask{path: "/costs/told"}, http.StatusTooManyRequests)
	})
	t.Run("of failed logins only", func(t *testing.T) {
		login := func(status int) ask {
			return ask{method: http.MethodPost, path: fmt.Sprintf("/costs/login?wait=50ms&status=%d", status)}
		}
		c.wantAnswers(t, each(200, repeat(10, login(200))...), each(401, repeat(5, login(401))...), each(429, login(401), login(200)))
	})
}

// testShaping has requests wait for their turn, and be refused where there is no place.
func (c *cluster) testShaping(t *testing.T) {
	t.Run("places", func(t *testing.T) {
		got := statuses(c.send(t, 5, repeat(5, ask{path: "/costs/at-once?wait=2s"})...))
		if got[http.StatusOK] != 2 || got[http.StatusTooManyRequests] != 3 {
			t.Errorf("of 5 requests at once: %v, want 2 admitted and 3 refused", got)
		}
		c.eventuallyAnswered(t, ask{path: "/costs/at-once"}, http.StatusOK)
	})
	t.Run("turns", func(t *testing.T) {
		var waits []float64
		for _, got := range c.send(t, 6, repeat(6, ask{path: "/costs/pace"})...) {
			if got.Status == http.StatusOK {
				waits = append(waits, got.Seconds)
			} else if got.Status != http.StatusTooManyRequests || got.Header.Get("Retry-After") == "" {
				t.Errorf("refused with %+v, want 429 that says when to come again", got)
			}
		}
		slices.Sort(waits)
		if len(waits) != 3 || waits[0] > 0.9 || waits[1] < 0.5 || waits[2] < 1.5 {
			t.Errorf("admitted requests took %.2f s, want three, a second apart", waits)
		}
	})
}

// eventuallyAnswered waits for what is corrected a moment after an answer.
func (c *cluster) eventuallyAnswered(t *testing.T, a ask, want int) {
	t.Helper()
	var last reply
	c.eventually(t, 10*time.Second, fmt.Sprintf("%s is answered with %d", a, want), func() bool {
		last = c.send(t, 1, a)[0]
		return last.Status == want
	}, func() string { return fmt.Sprintf("%+v", last) })
}
