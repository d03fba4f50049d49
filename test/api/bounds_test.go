// Copyright The Penstock Authors.
// SPDX-License-Identifier: Apache-2.0

package api

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// boundsByKind are the bounds of all kinds. ClusterRateLimitPolicy has those of
// RateLimitPolicy and its own: TestClusterPoliciesHaveTheRulesOfPolicies.
var boundsByKind = map[string][]bound{
	kindPolicy:        policyBounds,
	kindClusterPolicy: {choice("spec.placement", "Override Default", "Override Default")},
	kindStore:         storeBounds,
}

func TestBoundsAcceptTheirLastValueAndRefuseTheNext(t *testing.T) {
	for kind, bounds := range boundsByKind {
		for _, b := range bounds {
			t.Run(kind+"/"+b.path, func(t *testing.T) {
				t.Parallel()
				for _, value := range slices.Concat(b.accepted, b.stricter) {
					wantAccepted(t, object(t, kind, scaffold(b.path), change{b.path: value}))
				}
				for _, r := range b.refused {
					o := object(t, kind, scaffold(b.path), change{b.path: r.value})
					if r.words == "Duplicate value" {
						wantRefused(t, o, b.path+"[1]", r.words)
						continue
					}
					wantRefused(t, o, b.path, r.words)
				}
			})
		}
	}
}

func TestBoundsOfTheSchemaAreAllInTheTable(t *testing.T) {
	t.Parallel()
	for _, kind := range []string{kindPolicy, kindStore} {
		var got, want []string
		walk("spec", specOf(t, kind), func(path string, node schema) {
			for _, keyword := range boundsOf(node) {
				got = append(got, path+" "+keyword)
			}
		})
		for _, b := range boundsByKind[kind] {
			for _, keyword := range b.keywords {
				path := general(b.path)
				if strings.HasPrefix(keyword, "required=") {
					path = path[:strings.LastIndex(path, ".")]
				}
				want = append(want, path+" "+keyword)
			}
		}
		slices.Sort(got)
		slices.Sort(want)
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("bounds of %s (-in the table +in the schema):\n%s", kind, diff)
		}
	}
}

func TestTiersHaveTheLimitsOfRules(t *testing.T) {
	t.Parallel()
	rule := specOf(t, kindPolicy).Properties["rules"].Items.Schema
	inRule, inTier := rule.Properties["limits"], rule.Properties["tiers"].Items.Schema.Properties["limits"]
	if diff := cmp.Diff(inRule.Items, inTier.Items); diff != "" {
		t.Errorf("schemas of a limit (-rule +tier):\n%s", diff)
	}
	if diff := cmp.Diff(boundsOf(inRule), boundsOf(inTier)); diff != "" {
		t.Errorf("bounds of limits (-rule +tier):\n%s", diff)
	}
}

func TestClusterPoliciesHaveTheRulesOfPolicies(t *testing.T) {
	t.Parallel()
	ofNamespace, ofCluster := specOf(t, kindPolicy), specOf(t, kindClusterPolicy)
	for name, field := range ofNamespace.Properties {
		if name == "targetRefs" || name == "selector" {
			continue
		}
		if diff := cmp.Diff(field, ofCluster.Properties[name]); diff != "" {
			t.Errorf("schemas of %s (-RateLimitPolicy +ClusterRateLimitPolicy):\n%s", name, diff)
		}
	}
	wantRefused(t, object(t, kindClusterPolicy, change{"spec.namespaceSelector": ""}), "spec.namespaceSelector", "Required value")
	wantRefused(t, object(t, kindClusterPolicy, change{"spec.rules": ""}), "spec.rules", "Required value")
	wantAccepted(t, object(t, kindClusterPolicy, change{"spec.selector": "{matchLabels: {tier: frontend}}"}))
}
