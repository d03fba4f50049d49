//go:build e2e

// Copyright The Penstock Authors.
// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"strings"
	"testing"
	"time"
)

// testStreamsOutliveTheDrain ends the pods under a WebSocket and a gRPC stream: both
// must live as long as the app goes on serving, not only until the sidecar drains.
func (c *cluster) testStreamsOutliveTheDrain(t *testing.T) {
	status := c.kubectl(t, "-n", shop, "get", "pods", "-l", "app=web", "-o", `jsonpath={.items[*].metadata.annotations.penstock\.dev/status}`)
	if !strings.Contains(status, `"name":"grpc"`) {
		t.Fatalf("the port grpc is not intercepted, so the stream would tell nothing: %s", status)
	}
	const host = "web." + shop + ".svc.cluster.local"
	clients := map[string]string{
		"WebSocket":   c.startClient(t, "--websocket=ws://"+host+"/socket"),
		"gRPC stream": c.startClient(t, "--grpc="+host+":9090"),
	}
	for kind, name := range clients {
		var last string
		c.eventually(t, 60*time.Second, "the "+kind+" has begun", func() bool {
			output, _ := c.command("-n", "e2e-redis", "logs", name).CombinedOutput()
			last = string(output)
			return strings.Contains(last, "has begun")
		}, func() string { return last })
	}
	ended := time.Now()
	c.kubectl(t, "-n", shop, "delete", "pods", "-l", "app=web", "--wait=false")
	for kind, name := range clients {
		var stream struct {
			Seconds  float64
			Messages int
			Ended    string
		}
		c.endClient(t, name, 2*time.Minute, &stream)
		t.Logf("%s: %+v", kind, stream)
		if stream.Seconds < drainSeconds {
			t.Errorf("the %s lived for %.1f s, want the %d s at least for which the app went on serving", kind, stream.Seconds, drainSeconds)
		}
	}
	t.Logf("both had ended %v after their pods were told to", time.Since(ended).Round(time.Second))
	c.kubectl(t, "-n", shop, "rollout", "status", "deployment/web", "--timeout=120s")
}
