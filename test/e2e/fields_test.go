//go:build e2e

// Copyright The Penstock Authors.
// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"fmt"
	"net/netip"
	"strconv"
	"strings"
	"testing"
	"time"
)

// startFields starts the apps, the client and the issuer of the stories about single
// fields, without waiting for them.
func (c *cluster) startFields(t *testing.T) {
	t.Helper()
	issued := newCertificates(t, "issuer.e2e-redis.svc.cluster.local", "secure."+shop+".svc.cluster.local")
	values := map[string]string{"CA": issued.ca, "CERTIFICATE": issued.certificate, "KEY": issued.key}
	c.apply(t, "clients.yaml", values)
	c.apply(t, "trust.yaml", values)
	var last string
	c.eventually(t, 30*time.Second, "new pods are given the issuer's CA", func() bool {
		last = c.admitted(t, "pod.yaml")
		return strings.Contains(last, "SSL_CERT_FILE")
	}, func() string { return last })
	c.apply(t, "api.yaml", values)
}

// awaitFields waits until these apps run, and all policies on them are in force.
func (c *cluster) awaitFields(t *testing.T) {
	t.Helper()
	c.kubectl(t, "-n", "e2e-redis", "wait", "--for=condition=Ready", "--timeout=120s", "pod/client", "pod/issuer")
	c.client = c.forward(t, "e2e-redis", "pod/client", 8090)
	for _, app := range []string{"api", "batch", "secure"} {
		c.kubectl(t, "-n", shop, "rollout", "status", "deployment/"+app, "--timeout=120s")
	}
	c.inline, c.fetched = newSigner(t, "inline"), newSigner(t, "first")
	c.publishKeys(t, c.fetched.keySet())
	for _, file := range []string{"matching", "identity", "tokens", "answers", "costs", "scope", "tls", "fallback"} {
		c.apply(t, file+".yaml", map[string]string{"CLIENT": c.clientPrefix(t), "KEYS": c.inline.keySet()})
	}
	c.kubectl(t, "-n", shop, "wait", "--for=condition=Ready", "--timeout=60s", "rlpol", "-l", "story=fields")
	pods := map[string]bool{}
	c.eventually(t, 20*time.Second, "Services lead to the apps", func() bool {
		for _, got := range c.send(t, 20, append(repeat(20, ask{path: "/ready"}), ask{service: at("batch"), path: "/ready"})...) {
			pods[got.pod()] = true
		}
		return len(pods) == 3
	}, func() string { return fmt.Sprintf("requests reached %v, not three pods", pods) })
}

// clientPrefix is the address of the client in the cluster, as a prefix.
func (c *cluster) clientPrefix(t *testing.T) string {
	t.Helper()
	text := c.kubectl(t, "-n", "e2e-redis", "get", "pod", "client", "-o", "jsonpath={.status.podIP}")
	address, err := netip.ParseAddr(text)
	if err != nil {
		t.Fatalf("the client's address: %v", err)
	}
	return netip.PrefixFrom(address, address.BitLen()).String()
}

// admitted is what a pod becomes in admission, without being created.
func (c *cluster) admitted(t *testing.T, file string) string {
	t.Helper()
	command := c.command("create", "--dry-run=server", "-o", "json", "-f", "-")
	command.Stdin = strings.NewReader(c.expand(t, file, nil))
	output, err := command.CombinedOutput()
	if err != nil {
		t.Fatalf("create %s in a dry run: %v\n%s", file, err, output)
	}
	return string(output)
}

// metric is the value of a metric in each sidecar of an app, by pod: of the series
// that have all of these labels, such as rule="login", the sum.
func (c *cluster) metric(t *testing.T, app, name string, labels ...string) map[string]float64 {
	t.Helper()
	values := map[string]float64{}
	for pod := range strings.FieldsSeq(c.kubectl(t, "-n", shop, "get", "pods", "-l", "app="+app, "-o", "jsonpath={.items[*].metadata.name}")) {
		values[pod] = sumOf(t, c.kubectl(t, "get", "--raw", "/api/v1/namespaces/"+shop+"/pods/"+pod+":15420/proxy/metrics"), name, labels)
	}
	return values
}

func sumOf(t *testing.T, text, name string, labels []string) float64 {
	t.Helper()
	sum := 0.0
	for line := range strings.Lines(text) {
		rest, found := strings.CutPrefix(line, name)
		if !found || !strings.HasPrefix(rest, "{") && !strings.HasPrefix(rest, " ") || !hasAll(rest, labels) {
			continue
		}
		value, err := strconv.ParseFloat(strings.TrimSpace(rest[strings.LastIndexByte(rest, ' '):]), 64)
		if err != nil {
			t.Fatalf("the metric %q has no value: %v", line, err)
		}
		sum += value
	}
	return sum
}

func hasAll(text string, parts []string) bool {
	for _, part := range parts {
		if !strings.Contains(text, part) {
			return false
		}
	}
	return true
}

// totalOf adds up what metric returns.
func totalOf(values map[string]float64) (total float64) {
	for _, value := range values {
		total += value
	}
	return total
}

// reason is that of a policy's condition, as "status reason".
func (c *cluster) reason(t *testing.T, policy, condition string) string {
	t.Helper()
	query := fmt.Sprintf(`jsonpath={range .status.conditions[?(@.type==%q)]}{.status} {.reason}{end}`, condition)
	return c.kubectl(t, "-n", shop, "get", "rlpol", policy, "-o", query)
}
