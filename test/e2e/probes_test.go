//go:build e2e

// Copyright The Penstock Authors.
// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"strings"
	"testing"
	"time"
)

// probes are the kinds of probes, each in a Deployment of its own.
var probes = map[string]string{
	"http": "httpGet: {path: /healthz, port: http}",
	"tcp":  "tcpSocket: {port: 7070}",
	"grpc": "grpc: {port: 9090}",
}

// testProbes holds each kind of probe green while clients are over the limit, and
// wants it red when the app fails.
func (c *cluster) testProbes(t *testing.T) {
	for kind, probe := range probes {
		c.apply(t, "probed.yaml", map[string]string{"KIND": kind, "PROBE": probe})
	}
	for kind := range probes {
		c.kubectl(t, "-n", shop, "rollout", "status", "deployment/probed-"+kind, "--timeout=120s")
	}
	c.kubectl(t, "-n", shop, "wait", "--for=condition=Ready", "--timeout=60s", "rlpol/probed")

	over := c.startClient(t, "--url=http://probed."+shop+".svc.cluster.local/", "--requests=600", "--rate=40", "--concurrency=4")
	got := c.endLoad(t, over, 2*time.Minute)
	if got.Status["429"] < 500 {
		t.Errorf("the load was answered %+v, want nearly all of it over the limit", got)
	}
	for kind := range probes {
		if ready := c.readiness(t, kind); ready != "true 0" {
			t.Errorf("probe by %s: ready and restarts are %q after a load over the limit, want \"true 0\"", kind, ready)
		}
	}

	for kind := range probes {
		pod := strings.TrimSpace(c.kubectl(t, "-n", shop, "get", "pods", "-l", "app=probed-"+kind, "-o", "jsonpath={.items[0].metadata.name}"))
		c.kubectl(t, "get", "--raw", "/api/v1/namespaces/"+shop+"/pods/"+pod+":8080/proxy/fail")
	}
	for kind := range probes {
		var last string
		c.eventually(t, 30*time.Second, "the probe by "+kind+" is red once the app has failed", func() bool {
			last = c.readiness(t, kind)
			return strings.HasPrefix(last, "false")
		}, func() string { return last })
	}
	c.kubectl(t, "-n", shop, "delete", "deployment,service,rlpol", "-l", "probed=true")
}

// readiness is whether the app's container is ready, and how often it was restarted.
func (c *cluster) readiness(t *testing.T, kind string) string {
	t.Helper()
	return c.kubectl(t, "-n", shop, "get", "pods", "-l", "app=probed-"+kind, "-o",
		`jsonpath={.items[0].status.containerStatuses[0].ready} {.items[0].status.containerStatuses[0].restartCount}`)
}
