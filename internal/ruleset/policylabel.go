// Copyright The Penstock Authors.
// SPDX-License-Identifier: Apache-2.0

package ruleset

const (
	// KindCluster is the kind of policies that are for many namespaces.
	KindCluster = "ClusterRateLimitPolicy"
	// ClusterPrefix stands before the names of these in labels.
	ClusterPrefix = "cluster/"
)

// PolicyLabel names a policy uniquely within a namespace's rules.
func PolicyLabel(kind, name string) string {
	if kind == KindCluster {
		return ClusterPrefix + name
	}
	return name
}
