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
	KindRateLimitPolicy: {
		"spec.targetRefs[].sectionName":      "limiting one port of a Service is not implemented yet: remove it to limit all ports",
		"spec.clientIP.source=XForwardedFor": "XForwardedFor is not implemented yet: write Peer, or use a header as the key",
		"spec.clientIP.source=Header":        "Header is not implemented yet: write Peer, or use a header as the key",
		"spec.clientIP.headerName":           "addresses from a header are not implemented yet: remove it",
		"spec.clientIP.trustedHops":          "addresses from a header are not implemented yet: remove it",
		"spec.clientIP.trustedCIDRs":         "addresses from a header are not implemented yet: remove it",
		"spec.exempt":                        "exemptions are not implemented yet: remove it, and narrow matches instead",
		"spec.evaluation=FirstMatch":         "FirstMatch is not implemented yet: write All, and make the matches of rules disjoint",
		"spec.response.cors=Echo":            "Echo is not implemented yet: write None",

		"spec.rules[].matches[].path.type=Template":          "Template is not implemented yet: write PathPrefix or Exact",
		"spec.rules[].matches[].path.type=RegularExpression": "RegularExpression is not implemented yet: write PathPrefix or Exact",
		"spec.rules[].matches[].hosts":                       "matching hosts is not implemented yet: remove it",
		"spec.rules[].matches[].headers":                     "matching headers is not implemented yet: remove it",
		"spec.rules[].matches[].queryParams":                 "matching query parameters is not implemented yet: remove it",
		"spec.rules[].when":                                  "expressions are not implemented yet: remove it, and use matches",

		"spec.rules[].key[].from[].cookie":     "cookies as key are not implemented yet: use header or clientIP",
		"spec.rules[].key[].from[].queryParam": "query parameters as key are not implemented yet: use header or clientIP",
		"spec.rules[].key[].from[].pathParam":  "path parameters as key are not implemented yet: write one rule per path",
		"spec.rules[].key[].from[].path":       "the path as key is not implemented yet: write one rule per path",
		"spec.rules[].key[].from[].method":     "the method as key is not implemented yet: write one rule per method",
		"spec.rules[].key[].from[].host":       "the host as key is not implemented yet: use header or clientIP",
		"spec.rules[].key[].from[].expression": "expressions are not implemented yet: use header or clientIP",

		"spec.rules[].tiers":                   "tiers are not implemented yet: remove them, and write limits",
		"spec.rules[].cost.request.expression": "expressions are not implemented yet: use value, header or queryParam",
		"spec.rules[].enforcePercent":          "enforcing a share is not implemented yet: remove it",
		"spec.rules[].scope=Target":            "Target is not implemented yet: write Policy, and one policy per target",
		"spec.rules[].scope=Pod":               "Pod is not implemented yet: write Policy",
		"spec.rules[].response":                "answers of one's own are not implemented yet: remove it, a refusal is 429 with problem+json",
	},
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
