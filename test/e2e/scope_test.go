//go:build e2e

// Copyright The Penstock Authors.
// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"net/http"
	"testing"
	"time"
)

// testScopes counts over all targets, for each target, for each pod, and at one port.
func (c *cluster) testScopes(t *testing.T) {
	api, batch := func(path string) ask { return ask{path: path} }, func(path string) ask { return ask{service: at("batch"), path: path} }
	t.Run("Policy", func(t *testing.T) {
		c.wantAnswers(t, []step{{api("/scope/policy"), 200}, {batch("/scope/policy"), 200}, {api("/scope/policy"), 200}},
			each(429, repeat(4, api("/scope/policy"))...), each(429, batch("/scope/policy")))
	})
	t.Run("Target", func(t *testing.T) {
		c.wantAnswers(t, each(200, repeat(3, api("/scope/target"))...), each(429, repeat(4, api("/scope/target"))...),
			each(200, repeat(3, batch("/scope/target"))...), each(429, batch("/scope/target")))
	})
	t.Run("Pod", func(t *testing.T) {
		admitted := map[string]int{}
		for _, got := range c.send(t, 10, repeat(60, api("/scope/pod"))...) {
			if got.Status == http.StatusOK {
				admitted[got.pod()]++
			}
		}
		for pod, count := range admitted {
			if count != 3 {
				t.Errorf("%s admitted %d requests, want 3", pod, count)
			}
		}
		if len(admitted) != 2 {
			t.Errorf("requests were admitted by %v, want both pods", admitted)
		}
	})
	t.Run("sectionName", func(t *testing.T) {
		second := ask{service: at("api") + ":81", path: "/scope/section"}
		c.wantAnswers(t, each(200, repeat(3, api("/scope/section"))...), each(200, second), each(429, second), each(200, api("/scope/section")))
	})
	for policy, want := range map[string]string{"scopes": "3/3", "section": "2/2"} {
		var got string
		c.eventually(t, 15*time.Second, policy+" is enforced in "+want+" pods", func() bool {
			got = c.kubectl(t, "-n", shop, "get", "rlpol", policy, "-o", "jsonpath={.status.pods.summary}")
			return got == want
		}, func() string { return got })
	}
}
