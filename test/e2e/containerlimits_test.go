//go:build e2e

// Copyright The Penstock Authors.
// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"encoding/json"
	"math"
	"strconv"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
)

// testContainerLimits compares what the Go runtime of sidecars keeps to with what
// their containers may take: api's sidecars have limits in their spec, batch's sidecar
// only those that the kubelet derives from the pod's and writes to its control group.
// Under load they stay below, so that none is killed.
func (c *cluster) testContainerLimits(t *testing.T) {
	cores, err := strconv.Atoi(c.kubectl(t, "get", "nodes", "-o", "jsonpath={.items[0].status.capacity.cpu}"))
	if err != nil {
		t.Fatalf("the node's cores: %v", err)
	}
	c.send(t, 50, append(repeat(1500, ask{path: "/load"}), repeat(500, ask{service: at("batch"), path: "/load"})...)...)
	for app, want := range map[string]corev1.ResourceList{
		"api":   c.sidecarLimits(t, "api"),
		"batch": {corev1.ResourceCPU: resource.MustParse("1"), corev1.ResourceMemory: resource.MustParse("256Mi")},
	} {
		// The runtime takes two threads at least, and no more than there are cores.
		threads := min(float64(cores), max(2, math.Ceil(want.Cpu().AsApproximateFloat64())))
		for pod, got := range c.metric(t, app, "go_sched_gomaxprocs_threads") {
			if got != threads {
				t.Errorf("the sidecar of %s runs %v threads, want %v: its limit is %s", pod, got, threads, want.Cpu())
			}
		}
		for pod, got := range c.metric(t, app, "go_gc_gomemlimit_bytes") {
			if bytes := want.Memory().Value() / 10 * 9; got != float64(bytes) {
				t.Errorf("the sidecar of %s keeps to %v bytes, want %d: nine tenths of %s", pod, got, bytes, want.Memory())
			}
		}
		for pod, got := range c.metric(t, app, "process_resident_memory_bytes") {
			if got == 0 || got >= want.Memory().AsApproximateFloat64() {
				t.Errorf("the sidecar of %s takes %v bytes under load, want less than %s", pod, got, want.Memory())
			}
		}
		restarts := c.kubectl(t, "-n", shop, "get", "pods", "-l", "app="+app, "-o", `jsonpath={.items[*].status.initContainerStatuses[*].restartCount}`)
		if strings.Trim(restarts, "0 ") != "" {
			t.Errorf("sidecars of %s were restarted: %s times", app, restarts)
		}
	}
}

// sidecarLimits are those in the spec of an app's sidecars.
func (c *cluster) sidecarLimits(t *testing.T, app string) corev1.ResourceList {
	t.Helper()
	text := c.kubectl(t, "-n", shop, "get", "pods", "-l", "app="+app, "-o", `jsonpath={.items[0].spec.initContainers[?(@.name=="penstock")].resources.limits}`)
	var limits corev1.ResourceList
	if err := json.Unmarshal([]byte(text), &limits); err != nil || limits.Memory().IsZero() || limits.Cpu().IsZero() {
		t.Fatalf("the sidecar of %s has the limits %q, want CPU and memory in a pod of class Guaranteed: %v", app, text, err)
	}
	return limits
}
