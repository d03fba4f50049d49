// Copyright The Penstock Authors.
// SPDX-License-Identifier: Apache-2.0

package compile

import (
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/penstock-dev/penstock/api/v1alpha1"
)

// checkScope wants nothing of a rule that its scope makes meaningless. A rule that
// counts in memory never asks the store, so nothing can be said of how it does.
func checkScope(rule *v1alpha1.Rule, at *field.Path, found *findings) {
	if rule.Scope != v1alpha1.ScopePod {
		return
	}
	const mend = "has no effect with scope Pod, which counts in the memory of each pod and never asks the store: remove it, or write scope: Policy"
	if rule.Precision == v1alpha1.PrecisionLeased {
		found.invalid(at.Child("precision"), "Leased "+mend)
	}
	if rule.OnStoreFailure != "" {
		found.invalid(at.Child("onStoreFailure"), mend)
	}
	if rule.Local != nil {
		found.invalid(at.Child("local"), mend)
	}
}

// checkTargetScope wants targets by name where a rule counts each apart: a selector of
// the policy's own is no target.
func checkTargetScope(s *v1alpha1.RateLimitPolicySpec, found *findings) {
	if len(s.TargetRefs) > 0 {
		return
	}
	for i := range s.Rules {
		if s.Rules[i].Scope == v1alpha1.ScopeTarget {
			found.invalid(spec.Child("rules").Index(i).Child("scope"), "is Target, but the policy names no target: name workloads in targetRefs, or write scope: Policy")
		}
	}
}
