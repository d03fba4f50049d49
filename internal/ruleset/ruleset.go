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
	Rules        []Rule       `json:"rules"`
	Response     Response     `json:"response"`
}

// PathMatching says which spellings of a path are the same path.
type PathMatching string

const (
	// PathLoose also folds case and drops path parameters and a trailing slash.
	PathLoose PathMatching = "Loose"
	// PathStrict keeps case, path parameters and a trailing slash.
	PathStrict PathMatching = "Strict"
)

// ClientIP says how the client's address is read from a request.
type ClientIP struct {
	// IPv6PrefixLength is how many bits of an IPv6 address identify a client.
	IPv6PrefixLength int `json:"ipv6PrefixLength"`
}

// Rule is one rule: what it matches, whom it counts, and its limits.
type Rule struct {
	Name string `json:"name"`
	// Matches are alternatives; none means every request.
	Matches []Match `json:"matches,omitempty"`
	// Key are the parts of the identity; none means one count for all requests.
	Key    []KeyPart `json:"key,omitempty"`
	Limits []Limit   `json:"limits"`
	// Cost is how much a request counts; nil counts 1.
	Cost *Cost `json:"cost,omitempty"`
	// Shadow makes the rule count and never refuse.
	Shadow bool `json:"shadow,omitempty"`
	// Leased lets pods be charged in advance for a part of what remains, and spend it
	// without asking the store.
	Leased bool `json:"leased,omitempty"`
	// OnStoreFailure decides while the store gives no verdict.
	OnStoreFailure OnStoreFailure `json:"onStoreFailure"`
	// LoosenessMilli is how much of its share a pod allows with Local, in
	// thousandths: 1500 allows one and a half times the share.
	LoosenessMilli int64 `json:"loosenessMilli"`
}

// Match is one alternative: everything that is set must hold.
type Match struct {
	Path *PathMatch `json:"path,omitempty"`
	// Methods are alternatives, as sent; none means every method.
	Methods []string `json:"methods,omitempty"`
}

// PathMatch compares a path in canonical form.
type PathMatch struct {
	Type PathMatchType `json:"type"`
	// Value is in canonical form already, folded where the policy is Loose.
	Value string `json:"value"`
}

// PathMatchType says how a path is compared.
type PathMatchType string

const (
	// PathExact matches the whole path.
	PathExact PathMatchType = "Exact"
	// PathPrefix matches whole segments from the start of the path.
	PathPrefix PathMatchType = "PathPrefix"
)

// KeyPart is one part of an identity: the first source that yields a value.
type KeyPart struct {
	Name      string      `json:"name"`
	From      []KeySource `json:"from"`
	OnMissing OnMissing   `json:"onMissing"`
}

// KeySource is one place where a part of an identity may come from.
type KeySource struct {
	Kind KeySourceKind `json:"kind"`
	// Name is the header's, in lower case, for Header; empty otherwise.
	Name string `json:"name,omitempty"`
}

// KeySourceKind is the kind of a key source. It enters the identity, so that
// equal values from sources of different kinds are different clients.
type KeySourceKind string

const (
	// SourceClientIP is the client's address.
	SourceClientIP KeySourceKind = "ClientIP"
	// SourceHeader is a request header.
	SourceHeader KeySourceKind = "Header"
)

// OnMissing says what happens to a request in which no source yields a value.
type OnMissing string

const (
	// MissingShare counts all such requests together.
	MissingShare OnMissing = "Share"
	// MissingSkip makes the rule not apply.
	MissingSkip OnMissing = "Skip"
	// MissingDeny refuses the request.
	MissingDeny OnMissing = "Deny"
)

// Algorithm is how a limit counts.
type Algorithm string

const (
	// TokenBucket refills steadily up to its burst.
	TokenBucket Algorithm = "TokenBucket"
	// LeakyBucket is a TokenBucket that delays what it admits, so that requests leave
	// at a steady rate.
	LeakyBucket Algorithm = "LeakyBucket"
	// SlidingWindowLog remembers each request of the last window's length.
	SlidingWindowLog Algorithm = "SlidingWindowLog"
	// SlidingWindowCounter counts in windows aligned to the Unix epoch, and weighs
	// the window before by how much of it lies in the last window's length.
	SlidingWindowCounter Algorithm = "SlidingWindowCounter"
	// FixedWindow counts in windows aligned to the Unix epoch, or to a calendar.
	FixedWindow Algorithm = "FixedWindow"
	// Concurrency counts the requests that are being answered.
	Concurrency Algorithm = "Concurrency"
)

// Limit is one limit of a rule.
type Limit struct {
	Name      string    `json:"name"`
	Algorithm Algorithm `json:"algorithm"`
	// Requests are admitted in each window, or at once with Concurrency.
	Requests int64 `json:"requests"`
	// WindowMicros is the window's length in microseconds, 0 with Calendar and
	// with Concurrency.
	WindowMicros int64 `json:"windowMicros"`
	// Calendar makes a FixedWindow a period of the calendar; nil has none.
	Calendar *Calendar `json:"calendar,omitempty"`
	// Burst is a token bucket's capacity, in requests. It equals Requests where
	// the policy names none, and for all algorithms without a burst.
	Burst int64 `json:"burst"`
	// Key is the limit's part of its counters' names: 8 base64url characters of
	// a hash of kind, policy, rule, limit, algorithm and window or calendar.
	Key string `json:"key"`
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

// Response says what answers tell about limits.
type Response struct {
	// Headers are the families of header fields to send; none sends none.
	Headers []HeaderFamily `json:"headers,omitempty"`
	// OmitOnAllowed leaves the fields out of admitted answers.
	OmitOnAllowed bool `json:"omitOnAllowed,omitempty"`
}

// HeaderFamily is a set of header fields that tell about limits.
type HeaderFamily string

const (
	// HeadersRateLimit are RateLimit and RateLimit-Policy
	// (draft-ietf-httpapi-ratelimit-headers).
	HeadersRateLimit HeaderFamily = "RateLimit"
	// HeadersXRateLimit are X-RateLimit-Limit, -Remaining and -Reset.
	HeadersXRateLimit HeaderFamily = "XRateLimit"
	// HeadersDraft03 are RateLimit-Limit, -Remaining and -Reset, as the third
	// version of the draft had them.
	HeadersDraft03 HeaderFamily = "Draft03"
)
