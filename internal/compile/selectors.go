// Copyright The Penstock Authors.
// SPDX-License-Identifier: Apache-2.0

package compile

import (
	"encoding/json"
	"strings"

	"github.com/penstock-dev/penstock/api/v1alpha1"
	"github.com/penstock-dev/penstock/internal/ruleset"
)

// targetScoped are the names of the rules that count each target apart.
func targetScoped(policy *v1alpha1.RateLimitPolicy) map[string]bool {
	scoped := make(map[string]bool)
	for i := range policy.Spec.Rules {
		if rule := &policy.Spec.Rules[i]; rule.Scope == v1alpha1.ScopeTarget {
			scoped[rule.Name] = true
		}
	}
	return scoped
}

// targetNames are the names of the selectors' targets, each once.
func targetNames(selectors []ruleset.Selector) []string {
	var names []string
	seen := map[string]bool{"": true}
	for _, selector := range selectors {
		if !seen[selector.Target] {
			seen[selector.Target] = true
			names = append(names, selector.Target)
		}
	}
	return names
}

// distinctSelectors drops what is the same as one before.
func distinctSelectors(selectors []ruleset.Selector) []ruleset.Selector {
	seen := make(map[string]bool, len(selectors))
	distinct := make([]ruleset.Selector, 0, len(selectors))
	for _, selector := range selectors {
		if content := contentOf(selector); !seen[content] {
			seen[content] = true
			distinct = append(distinct, selector)
		}
	}
	return distinct
}

// bySelectorContent orders selectors so that the order in which targets are named is no
// change.
func bySelectorContent(a, b ruleset.Selector) int { return strings.Compare(contentOf(a), contentOf(b)) }

func contentOf(selector ruleset.Selector) string {
	encoded, err := json.Marshal(selector)
	if err != nil {
		// Plain structs of strings and integers always encode.
		panic("encode selector: " + err.Error())
	}
	return string(encoded)
}
