//go:build e2e

// Copyright The Penstock Authors.
// SPDX-License-Identifier: Apache-2.0

// Package e2e proves on a real cluster, with a real kubelet, what the README
// promises. `make e2e` runs it on the local cluster; E2E_KUBECONFIG and E2E_IMAGES
// name another one and the prefix of the images there.
package e2e

import (
	"encoding/json"
	"strings"
	"testing"
	"time"
)

const (
	shop     = "e2e-shop"
	requests = 200
)

// TestOnACluster installs once and runs each story on it, one after the other.
func TestOnACluster(t *testing.T) {
	c := newCluster(t)
	c.install(t)
	c.apply(t, "shop.yaml", nil)
	c.startFields(t)
	c.kubectl(t, "-n", shop, "rollout", "status", "deployment/web", "--timeout=120s")
	c.awaitFields(t)
	t.Run("rules match", c.testMatching)
	t.Run("clients are told apart", c.testIdentity)
	t.Run("tokens are verified", c.testTokens)
	t.Run("refusals are as they are wanted", c.testAnswers)
	t.Run("requests cost what they cost", c.testCosts)
	t.Run("requests wait for a place", c.testShaping)
	t.Run("counts are of a policy, a target or a pod", c.testScopes)
	t.Run("TLS is passed through and told", c.testTLS)
	t.Run("sidecars keep to their limits", c.testContainerLimits)
	t.Run("apply a policy, get a 429 in every replica", c.testLifeOfAPolicy)
	t.Run("a rolling restart loses no request", c.testRollingRestart)
	t.Run("streams live until their pod ends", c.testStreamsOutliveTheDrain)
	t.Run("probes tell of the app and not of its limits", c.testProbes)
	t.Run("keys of tokens are exchanged", c.testRotatedKeys)
	t.Run("limits outlive their store", c.testLossOfTheStore)
}

// testLifeOfAPolicy is from before a policy exists to after it is gone. Its steps
// build on each other, so they run in order.
func (c *cluster) testLifeOfAPolicy(t *testing.T) {

	// A fixed window is exact over minutes, but for its border.
	waitOutTheHour(t)

	c.awaitReplicas(t, 3)
	seenBefore := c.seenByApps(t)
	before := c.load(t, requests, 20)
	if before.Status["200"] != requests || len(before.Pods) != 3 {
		t.Fatalf("before the policy: %+v, want %d of %d answered 200 by 3 pods", before, requests, requests)
	}
	if seen := c.seenByApps(t) - seenBefore; seen != requests {
		t.Fatalf("the apps saw %d requests, want %d: some did not pass, or passed twice", seen, requests)
	}

	c.apply(t, "policy.yaml", map[string]string{"LIMIT": "50"})
	c.waitEnforced(t, "3/3")
	limited := c.load(t, requests, 50)
	if limited.Status["200"] != 50 || limited.Status["429"] != requests-50 {
		t.Fatalf("with a limit of 50: %+v, want 50 answered 200 and %d answered 429", limited, requests-50)
	}
	if seen := c.seenByApps(t) - seenBefore; seen != requests+50 {
		t.Fatalf("the apps saw %d requests, want %d: exactly those admitted", seen, requests+50)
	}
	t.Logf("as a person sees it:\n%s", c.kubectl(t, "-n", shop, "get", "rlpol"))

	c.replaceAPod(t)
	c.waitEnforced(t, "3/3")
	c.wantAdmitted(t, "after a pod was replaced", 0)

	c.deleteRulesFromRedis(t)
	c.waitEnforced(t, "3/3")
	c.wantAdmitted(t, "after the rules were deleted from Redis", 0)

	c.apply(t, "policy.yaml", map[string]string{"LIMIT": "60"})
	c.waitEnforced(t, "3/3")
	c.wantAdmitted(t, "after the limit was raised from 50 to 60", 10)

	c.kubectl(t, "-n", shop, "delete", "rlpol", "storefront")
	c.waitUntilAllPass(t)
}

// waitOutTheHour returns when the hour, to which the window of the policy is
// aligned, has enough left for the test.
func waitOutTheHour(t *testing.T) {
	t.Helper()
	const needed = 4 * time.Minute
	left := time.Until(time.Now().Truncate(time.Hour).Add(time.Hour))
	if left < needed {
		t.Logf("waiting %s for the next hour, to which the limit's window is aligned", left.Round(time.Second))
		<-time.After(left + time.Second)
	}
}

// wantAdmitted sends requests and fails unless exactly want of them passed.
func (c *cluster) wantAdmitted(t *testing.T, when string, want int) {
	t.Helper()
	got := c.load(t, requests, 50)
	if got.Status["200"] != want || got.Status["429"] != requests-want {
		t.Fatalf("%s: %+v, want %d answered 200 and the rest 429", when, got, want)
	}
}

// waitEnforced waits until the policy reports its newest generation ready, with
// this many of its pods.
func (c *cluster) waitEnforced(t *testing.T, pods string) {
	t.Helper()
	var last string
	c.eventually(t, 60*time.Second, "the policy is enforced in "+pods+" pods", func() bool {
		last = c.kubectl(t, "-n", shop, "get", "rlpol", "storefront", "-o", "json")
		var policy struct {
			Metadata struct{ Generation int64 }
			Status   struct {
				ActiveGeneration int64
				Pods             struct{ Summary string }
				Conditions       []struct {
					Type, Status       string
					ObservedGeneration int64
				}
			}
		}
		if err := json.Unmarshal([]byte(last), &policy); err != nil {
			return false
		}
		for _, condition := range policy.Status.Conditions {
			if condition.Type == "Ready" {
				return condition.Status == "True" && condition.ObservedGeneration == policy.Metadata.Generation &&
					policy.Status.ActiveGeneration == policy.Metadata.Generation && policy.Status.Pods.Summary == pods
			}
		}
		return false
	}, func() string { return last })
}

func (c *cluster) replaceAPod(t *testing.T) {
	t.Helper()
	name := strings.Fields(c.kubectl(t, "-n", shop, "get", "pods", "-l", "app=web", "-o", "name"))[0]
	c.kubectl(t, "-n", shop, "delete", name, "--wait=true")
	c.kubectl(t, "-n", shop, "rollout", "status", "deployment/web", "--timeout=120s")
}

func (c *cluster) waitUntilAllPass(t *testing.T) {
	t.Helper()
	var last result
	c.eventually(t, 20*time.Second, "all requests pass once the policy is gone", func() bool {
		last = c.load(t, requests, 50)
		return last.Status["200"] == requests
	}, func() string { b, _ := json.Marshal(last); return string(b) })
}
