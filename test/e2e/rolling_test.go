//go:build e2e

// Copyright The Penstock Authors.
// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"fmt"
	"testing"
	"time"
)

// drainSeconds is for how long the shop's pods go on serving once they are to end.
const drainSeconds = 8

// testRollingRestart replaces all replicas while requests come in, half of them on
// connections that are kept: every one must be answered by an app.
func (c *cluster) testRollingRestart(t *testing.T) {
	const half, rate = 50_000, 700
	c.apply(t, "policy.yaml", map[string]string{"LIMIT": "100000000"})
	c.waitEnforced(t, "3/3")
	c.kubectl(t, "-n", shop, "patch", "deployment", "web", "-p",
		fmt.Sprintf(`{"spec":{"template":{"metadata":{"annotations":{"penstock.dev/drain-seconds":"%d"}}}}}`, drainSeconds))
	c.kubectl(t, "-n", shop, "rollout", "status", "deployment/web", "--timeout=180s")
	c.awaitReplicas(t, 3)

	flags := []string{fmt.Sprintf("--requests=%d", half), fmt.Sprintf("--rate=%d", rate), "--concurrency=20"}
	loads := []string{c.startLoad(t, flags...), c.startLoad(t, append(flags, "--keep-alive")...)}
	for _, name := range loads {
		c.kubectl(t, "-n", "e2e-redis", "wait", "--for=condition=Ready", "--timeout=60s", "pod/"+name)
	}
	c.kubectl(t, "-n", shop, "rollout", "restart", "deployment/web")
	c.kubectl(t, "-n", shop, "rollout", "status", "deployment/web", "--timeout=180s")
	for _, name := range loads {
		if phase := c.phase(t, name); phase != "Running" {
			t.Errorf("%s was %s before the restart was over: it was not under load to its end", name, phase)
		}
	}
	answered := 0
	for _, name := range loads {
		got := c.endLoad(t, name, 5*time.Minute)
		answered += got.Status["200"]
		t.Logf("%s: %+v", name, got)
		if got.Errors > 0 || len(got.Pods) < 4 {
			t.Errorf("%s: %d of %d requests had no answer, the first: %s; %d pods answered, want old and new ones", name, got.Errors, half, got.FirstError, len(got.Pods))
		}
	}
	if answered != 2*half {
		t.Errorf("%d requests were answered 200, want %d", answered, 2*half)
	}
}
