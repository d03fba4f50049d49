// Copyright The Penstock Authors.
// SPDX-License-Identifier: Apache-2.0

package compile

import "github.com/penstock-dev/penstock/api/v1alpha1"

// Kinds whose objects are compiled or checked here.
const (
	kindClusterPolicy = "ClusterRateLimitPolicy"
	kindStore         = "RateLimitStore"
)

// notImplemented is the one table of what the API has and this version does not
// enforce, by kind. A key is the path of a field, with [] for any entry of a
// list, or path=value for a value of a field; path= stands for an absent field
// of the spec whose default is not implemented. The text says what to do instead.
//
// A field that is neither here nor enforced fails TestEveryFieldIsEnforcedOrRefused.
var notImplemented = map[string]map[string]string{
	KindRateLimitPolicy: {},
	kindClusterPolicy: {
		"spec": "policies of the cluster are not implemented yet: write a RateLimitPolicy in each namespace",
	},
	kindStore: {
		"spec.isolation=":             "its default PerNamespace is not implemented yet: write Shared, and name the sidecars' user in sidecarCredentials",
		"spec.isolation=PerNamespace": "PerNamespace is not implemented yet: write Shared, and name the sidecars' user in sidecarCredentials",
	},
}

// ClusterPolicy checks a policy of the cluster. This version enforces none.
func ClusterPolicy(policy *v1alpha1.ClusterRateLimitPolicy) []v1alpha1.Problem {
	return unimplemented(kindClusterPolicy, policy)
}
