// Copyright The Penstock Authors.
// SPDX-License-Identifier: Apache-2.0

package ruleset

// Format is the version of the compiled form. A sidecar that meets a newer one
// keeps the rule set that it runs and acknowledges UnsupportedFormat.
const Format = 1

// MaxLimitsPerRequest is how many limits one request may meet: it bounds the work
// that a request can cause in the store.
const MaxLimitsPerRequest = 32

// RuleSet is all compiled rules of one namespace. An empty one says that the
// namespace has no rules, which differs from having no rule set at all.
type RuleSet struct {
	// Format is the version of the compiled form, see the constant.
	Format int `json:"format"`
	// Namespace is the Kubernetes namespace that the rules are for.
	Namespace string `json:"namespace"`
	// IdentityKey keys the hash of identities (HMAC-SHA-256), so that neither
	// the names of counters nor partition keys reveal an address or a token.
	IdentityKey []byte `json:"identityKey"`
	// Policies are ordered by kind, then name.
	Policies []Policy `json:"policies"`
}

// Policy is one policy object in compiled form.
type Policy struct {
	// Kind is RateLimitPolicy or ClusterRateLimitPolicy.
	Kind string `json:"kind"`
	Name string `json:"name"`
	// Generation is that of the object that this form was compiled from.
	Generation int64 `json:"generation"`
	// Revision is a hash of this policy's content, without Generation.
	Revision string `json:"revision"`
	// Selectors say which pods the policy is for: any of them selects.
	Selectors []Selector `json:"selectors"`
	// ClientIP says how the client's address is read.
	ClientIP ClientIP `json:"clientIP"`
	// PathMatching is Loose or Strict.
	PathMatching PathMatching `json:"pathMatching"`
	// JWT are the issuers whose tokens are believed.
	JWT []JWTProvider `json:"jwt,omitempty"`
	// Exempt lifts the policy's rules for some requests; nil for none.
	Exempt *Exempt `json:"exempt,omitempty"`
	// FirstMatch counts only by the first rule that a request meets, if its path is
	// spelled in canonical form.
	FirstMatch bool     `json:"firstMatch,omitempty"`
	Rules      []Rule   `json:"rules"`
	Response   Response `json:"response"`
}

// PathMatching says which spellings of a path are the same path.
type PathMatching string

const (
	// PathLoose also folds case and drops path parameters and a trailing slash.
	PathLoose PathMatching = "Loose"
	// PathStrict keeps case, path parameters and a trailing slash.
	PathStrict PathMatching = "Strict"
)

// Rule is one rule: what it matches, whom it counts, and its limits.
type Rule struct {
	Name string `json:"name"`
	// Matches are alternatives; none means every request.
	Matches []Match `json:"matches,omitempty"`
	// When are expressions that must all hold besides.
	When []string `json:"when,omitempty"`
	// Key are the parts of the identity; none means one count for all requests.
	Key    []KeyPart `json:"key,omitempty"`
	Limits []Limit   `json:"limits"`
	// Tiers replace Limits for some requests: the first that holds.
	Tiers []Tier `json:"tiers,omitempty"`
	// Cost is how much a request counts; nil counts 1.
	Cost *Cost `json:"cost,omitempty"`
	// Shadow makes the rule count and never refuse.
	Shadow bool `json:"shadow,omitempty"`
	// Leased lets pods be charged in advance for a part of what remains, and spend it
	// without asking the store.
	Leased bool `json:"leased,omitempty"`
	// EnforcePercent is the share of requests for which the rule is no shadow; nil is
	// all of them.
	EnforcePercent *int `json:"enforcePercent,omitempty"`
	// PodScoped counts in the memory of each pod alone.
	PodScoped bool `json:"podScoped,omitempty"`
	// Refusal is how the rule refuses; nil is status 429 with a problem document.
	Refusal *Refusal `json:"refusal,omitempty"`
	// OnStoreFailure decides while the store gives no verdict.
	OnStoreFailure OnStoreFailure `json:"onStoreFailure"`
	// LoosenessMilli is how much of its share a pod allows with Local, in
	// thousandths: 1500 allows one and a half times the share.
	LoosenessMilli int64 `json:"loosenessMilli"`
}

// OnStoreFailure decides while the store gives no verdict.
type OnStoreFailure string

const (
	// FailLocal counts in the process, at this pod's share of the limit.
	FailLocal OnStoreFailure = "Local"
	// FailAllow admits.
	FailAllow OnStoreFailure = "Allow"
	// FailDeny refuses with 503.
	FailDeny OnStoreFailure = "Deny"
)
