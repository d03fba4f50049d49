// Copyright The Penstock Authors.
// SPDX-License-Identifier: Apache-2.0

package ruleset

import "slices"

// Selector selects pods by their labels, as a Kubernetes label selector does.
// An empty one selects every pod.
// See https://kubernetes.io/docs/concepts/overview/working-with-objects/labels/.
type Selector struct {
	// MatchLabels must all be present with these values.
	MatchLabels map[string]string `json:"matchLabels,omitempty"`
	// MatchExpressions must all hold.
	MatchExpressions []Requirement `json:"matchExpressions,omitempty"`
	// Port narrows the policy to requests that came in for the app's port of
	// this number; 0 means all ports, and a number below 0 none.
	Port int32 `json:"port,omitempty"`
	// Target names what the selector stands for, such as "Deployment/web"; empty for
	// the selector of a policy.
	Target string `json:"target,omitempty"`
}

// Requirement is one expression of a selector.
type Requirement struct {
	Key string `json:"key"`
	// Operator is In, NotIn, Exists or DoesNotExist.
	Operator string   `json:"operator"`
	Values   []string `json:"values,omitempty"`
}

// Selects reports whether the selector selects a pod with these labels.
func (s Selector) Selects(labels map[string]string) bool {
	for key, want := range s.MatchLabels {
		if got, ok := labels[key]; !ok || got != want {
			return false
		}
	}
	for _, requirement := range s.MatchExpressions {
		if !requirement.holds(labels) {
			return false
		}
	}
	return true
}

func (r Requirement) holds(labels map[string]string) bool {
	value, present := labels[r.Key]
	switch r.Operator {
	case "In":
		return present && slices.Contains(r.Values, value)
	case "NotIn":
		return !present || !slices.Contains(r.Values, value)
	case "Exists":
		return present
	case "DoesNotExist":
		return !present
	default:
		// An operator that this version does not know selects nothing: the
		// format version changes when operators are added.
		return false
	}
}
