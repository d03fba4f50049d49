// Copyright The Penstock Authors.
// SPDX-License-Identifier: Apache-2.0

package api

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

func TestKubectlExplainsFieldsFarDown(t *testing.T) {
	t.Parallel()
	for field, want := range map[string]string{
		"rlpol.spec.rules.limits.window":           "Example: 1m30s",
		"rlpol.spec.rules.key.from.jwtClaim":       "jwtClaim takes a claim of a token",
		"rlpol.status.pods.enforcing":              "have acknowledged the policy",
		"crlpol.spec.placement":                    "a floor that nobody can loosen",
		"crlpol.spec.rules.tiers.limits.burst":     "Only with these two algorithms",
		"rlstore.spec.timeouts.operation":          "Absent means 25ms",
		"rlstore.spec.sentinel.credentials":        "Absent: they ask for none",
		"rlstore.spec.tls.caSecretRef.name":        "name is the name of the Secret",
		"ratelimitpolicies.spec.clientIP.source":   "ENUM",
		"ratelimitstores.status.conditions.reason": "reason",
	} {
		t.Run(field, func(t *testing.T) {
			t.Parallel()
			output, err := server.Kubectl(t, "explain", field)
			if err != nil {
				t.Fatal(err)
			}
			// kubectl breaks lines where it likes.
			if text := strings.Join(strings.Fields(output), " "); !strings.Contains(text, want) {
				t.Errorf("kubectl explain %s: got\n%s\nwant it to say %q", field, output, want)
			}
		})
	}
}

func TestKubectlGetShowsWhatPeopleNeed(t *testing.T) {
	t.Parallel()
	namespace := server.Namespace(t, nil)
	byTarget := object(t, kindPolicy, change{
		"metadata.name":   "by-target",
		"spec.selector":   "",
		"spec.targetRefs": "[{group: apps, kind: Deployment, name: web}]",
	})
	bySelector := object(t, kindPolicy, change{"metadata.name": "by-selector", "spec.selector": "{matchLabels: {app: web}}"})
	ofCluster := object(t, kindClusterPolicy, change{"metadata.name": "of-cluster", "spec.namespaceSelector": "{matchLabels: {team: shop}}"})
	store := object(t, kindStore, change{"metadata.name": "columns", "spec.mode": "Standalone"})
	byTarget.SetNamespace(namespace)
	bySelector.SetNamespace(namespace)
	for _, policy := range []*unstructured.Unstructured{byTarget, bySelector, ofCluster} {
		create(t, policy, "{effective: {store: default, mode: Enforce, rules: 1, maxLimitsPerRequest: 1}, pods: {selected: 8, injected: 8, enforcing: 7, degraded: 0, summary: 7/8}, conditions: ["+notYet("Ready")+"]}")
	}
	create(t, store, "{version: 7.4.1, roundTrip: 350us, conditions: ["+notYet("Connected")+"]}")
	for name, tc := range map[string]struct {
		arguments []string
		want      []string
	}{
		"policy with a target": {
			[]string{"rlpol", "by-target"},
			[]string{"NAME TARGET MODE PODS READY REASON AGE", "by-target web Enforce 7/8 False Pending"},
		},
		"policy with a selector": {
			[]string{"rlpol", "by-selector"},
			[]string{"NAME TARGET MODE PODS READY REASON AGE", `by-selector {"app":"web"} Enforce 7/8 False Pending`},
		},
		"policy of the cluster": {
			[]string{"crlpol", "of-cluster"},
			[]string{"NAME TARGET MODE PODS READY REASON AGE", `of-cluster {"team":"shop"} Enforce 7/8 False Pending`},
		},
		"store": {
			[]string{"rlstore", "columns"},
			[]string{"NAME MODE ADDRESS CONNECTED REASON VERSION AGE", "columns Standalone redis.redis.svc:6379 False Pending 7.4.1"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			output, err := server.Kubectl(t, append([]string{"get", "-n", namespace}, tc.arguments...)...)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tc.want, rows(output)); diff != "" {
				t.Errorf("kubectl get %v (-want +got):\n%s", tc.arguments, diff)
			}
		})
	}
	output, err := server.Kubectl(t, "get", "penstock", "-n", namespace, "-o", "name")
	if err != nil || !strings.Contains(output, "by-target") || !strings.Contains(output, "ratelimitstore") {
		t.Errorf("kubectl get penstock: got %q, %v, want all kinds", output, err)
	}
}

// create makes an object with a status, in YAML.
func create(t *testing.T, object *unstructured.Unstructured, status string) {
	t.Helper()
	if err := server.Client.Create(t.Context(), object); err != nil {
		t.Fatalf("create %s: %v", object.GetName(), err)
	}
	var content map[string]any
	mustParse(t, status, &content)
	object.Object["status"] = content
	if err := server.Client.Status().Update(t.Context(), object); err != nil {
		t.Fatalf("write the status of %s: %v", object.GetName(), err)
	}
}

// notYet is a condition that does not hold.
func notYet(kind string) string {
	return "{type: " + kind + ", status: 'False', reason: Pending, message: wait, lastTransitionTime: '2026-01-01T00:00:00Z'}"
}

// rows are lines with single spaces, and without the age of the object.
func rows(output string) []string {
	var found []string
	for i, line := range strings.Split(strings.TrimSpace(output), "\n") {
		fields := strings.Fields(line)
		if i > 0 && len(fields) > 0 {
			fields = fields[:len(fields)-1]
		}
		found = append(found, strings.Join(fields, " "))
	}
	return found
}
