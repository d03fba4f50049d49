// Copyright The Penstock Authors.
// SPDX-License-Identifier: Apache-2.0

package api

import (
	"slices"
	"strings"
	"testing"
)

// rule is one CEL rule of the schema on one field: a change that it accepts and
// one that it refuses.
type rule struct {
	// field is that at which the refusal points.
	field string
	// message is the whole text of the rule.
	message  string
	accepted change
	refused  change
}

// rulesByKind are the CEL rules of the kinds; ClusterRateLimitPolicy has those of
// RateLimitPolicy but targetRefs.
var rulesByKind = map[string][]rule{
	kindPolicy: slices.Concat(targetRules, policyRules),
	kindStore:  storeRules,
}

func TestRulesAcceptWhatFitsAndRefuseWhatDoesNot(t *testing.T) {
	for kind, rules := range rulesByKind {
		for _, r := range rules {
			t.Run(kind+"/"+r.field+"/"+r.message, func(t *testing.T) {
				t.Parallel()
				wantAccepted(t, object(t, kind, r.accepted))
				wantRefused(t, object(t, kind, r.refused), r.field, r.message)
			})
		}
	}
	for _, r := range policyRules {
		t.Run(kindClusterPolicy+"/"+r.field+"/"+r.message, func(t *testing.T) {
			t.Parallel()
			wantAccepted(t, object(t, kindClusterPolicy, r.accepted))
			wantRefused(t, object(t, kindClusterPolicy, r.refused), r.field, r.message)
		})
	}
}

func TestRulesOfTheSchemaAreAllInTheTable(t *testing.T) {
	t.Parallel()
	for _, kind := range []string{kindPolicy, kindClusterPolicy, kindStore} {
		rules := rulesByKind[kind]
		if kind == kindClusterPolicy {
			rules = policyRules
		}
		inTable := map[string]bool{}
		for _, r := range rules {
			inTable[general(r.field)+": "+r.message] = false
		}
		walk("spec", specOf(t, kind), func(path string, node schema) {
			for _, v := range node.XValidations {
				name := path + v.FieldPath + ": " + v.Message
				if _, ok := inTable[name]; !ok {
					t.Errorf("%s: no row for the rule\n%s", kind, name)
				}
				inTable[name] = true
			}
		})
		for name, inSchema := range inTable {
			if !inSchema {
				t.Errorf("%s: a row for a rule that the schema does not have\n%s", kind, name)
			}
		}
	}
}

func TestRulesSayWhatWhereAndHowToMendIt(t *testing.T) {
	t.Parallel()
	for _, kind := range []string{kindPolicy, kindClusterPolicy, kindStore} {
		walk("spec", specOf(t, kind), func(path string, node schema) {
			for _, v := range node.XValidations {
				if v.Reason == nil {
					t.Errorf("%s: rule %q has no reason", path, v.Rule)
				}
				if node.Type == "object" && v.FieldPath == "" {
					t.Errorf("%s: rule %q has no fieldPath", path, v.Rule)
				}
				if !strings.Contains(v.Message, ": ") && !strings.HasPrefix(v.Message, "write ") {
					t.Errorf("%s: the message %q does not say how to mend it", path, v.Message)
				}
			}
		})
	}
}
