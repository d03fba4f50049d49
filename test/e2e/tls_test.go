//go:build e2e

// Copyright The Penstock Authors.
// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"strings"
	"testing"
	"time"
)

// testTLS has an app end TLS itself: its requests pass, and its policy says that
// nobody counts them.
func (c *cluster) testTLS(t *testing.T) {
	if got := c.reason(t, "secure", "Ready"); !strings.HasPrefix(got, "True") {
		t.Errorf("before a request the policy is %q, want Ready", got)
	}
	secure := ask{service: strings.Replace(at("secure"), "http:", "https:", 1), path: "/"}
	c.wantAnswers(t, each(200, repeat(3, secure)...))
	var last string
	c.eventually(t, 20*time.Second, "the policy on an app with TLS is not enforced", func() bool {
		last = c.reason(t, "secure", "Enforced")
		return last == "False NotHTTP"
	}, func() string { return last })
	if listed := strings.Join(strings.Fields(c.kubectl(t, "-n", shop, "get", "rlpol", "secure", "--no-headers")), " "); !strings.HasPrefix(listed, "secure secure Enforce 0/1 False NotHTTP ") {
		t.Errorf("kubectl get shows %q, want 0/1 pods, not ready for NotHTTP", listed)
	}
	described := c.kubectl(t, "-n", shop, "describe", "rlpol", "secure")
	if !strings.Contains(described, "NotHTTP") || !strings.Contains(described, "TLS") {
		t.Errorf("kubectl describe does not tell of TLS:\n%s", described)
	}
}
