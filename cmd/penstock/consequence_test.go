// Copyright The Penstock Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import "testing"

func TestWhatMayFollowFromAFaultIsHidden(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		faulty, problem string
		want            bool
	}{
		"same":                    {"spec.mode", "spec.mode", true},
		"around":                  {"spec.rules[0].limits[0].window", "spec.rules[0].limits[0]", true},
		"within":                  {"spec.rules", "spec.rules[0].name", true},
		"beside":                  {"spec.rules[0].limits[0].window", "spec.rules[0].limits[0].burst", true},
		"beside at the top":       {"spec", "metadata.name", false},
		"name that begins alike":  {"spec.rules[1]", "spec.rules[10].name", false},
		"another limit":           {"spec.rules[0].limits[0].window", "spec.rules[0].limits[1].window", false},
		"another rule":            {"spec.rules[0].scope", "spec.rules[1].name", false},
		"limit of the rule":       {"spec.rules[0].scope", "spec.rules[0].limits[0].algorithm", true},
		"limits say no more":      {"spec.rules[0].limits[0].window", "spec.rules[0].key[0].claim", false},
		"key of the matches":      {"spec.rules[0].matches[0].path", "spec.rules[0].key[0].pathParam", true},
		"limits of the matches":   {"spec.rules[0].matches[0].path", "spec.rules[0].limits[0].window", false},
		"provider and expression": {"spec.jwt.providers[0].name", "spec.rules[3].when[0]", true},
		"provider and name":       {"spec.jwt.providers[0].name", "spec.rules[3].name", false},
		"provider and claim":      {"spec.jwt", "spec.rules[3].key[0].from[0].jwtClaim.provider", true},
		"targets and scope":       {"spec.targetRefs", "spec.rules[0].scope", true},
		"targets and name":        {"spec.targetRefs", "spec.rules[0].name", false},
		"provider and exemption":  {"spec.jwt.providers[0].name", "spec.exempt.cidrs[0]", false},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if got := hides(tc.faulty, tc.problem); got != tc.want {
				t.Errorf("hides(%q, %q) is %v", tc.faulty, tc.problem, got)
			}
		})
	}
}
