// Copyright The Penstock Authors.
// SPDX-License-Identifier: Apache-2.0

package ruleset

// Match is one alternative: everything that is set must hold.
type Match struct {
	Path *PathMatch `json:"path,omitempty"`
	// Methods are alternatives, as sent; none means every method.
	Methods []string `json:"methods,omitempty"`
	// Hosts are alternatives in lower case, where "*." at the start stands for one or
	// more labels; none means every host.
	Hosts []string `json:"hosts,omitempty"`
	// Headers must all hold. Their names are in lower case.
	Headers []ValueMatch `json:"headers,omitempty"`
	// QueryParams must all hold. Their names are as decoded.
	QueryParams []ValueMatch `json:"queryParams,omitempty"`
}

// PathMatch compares a path in canonical form.
type PathMatch struct {
	Type PathMatchType `json:"type"`
	// Value is in canonical form already, folded where the policy is Loose. A
	// PathRegularExpression is as written, and ignores case where the policy is Loose.
	Value string `json:"value"`
}

// PathMatchType says how a path is compared.
type PathMatchType string

const (
	// PathExact matches the whole path.
	PathExact PathMatchType = "Exact"
	// PathPrefix matches whole segments from the start of the path.
	PathPrefix PathMatchType = "PathPrefix"
	// PathTemplate matches segment by segment, where {name} stands for any one.
	PathTemplate PathMatchType = "Template"
	// PathRegularExpression matches the whole path (RE2).
	PathRegularExpression PathMatchType = "RegularExpression"
)

// ValueMatch compares the value of a header or of a query parameter. Several values
// are joined with a comma.
type ValueMatch struct {
	Name string         `json:"name"`
	Type ValueMatchType `json:"type"`
	// Value is the value or the regular expression; empty with the other types.
	Value string `json:"value,omitempty"`
}

// ValueMatchType says how a value is compared.
type ValueMatchType string

const (
	// ValueExact is an equal value.
	ValueExact ValueMatchType = "Exact"
	// ValueRegularExpression matches the whole value (RE2).
	ValueRegularExpression ValueMatchType = "RegularExpression"
	// ValuePresent is any value, an empty one too.
	ValuePresent ValueMatchType = "Present"
	// ValueAbsent is none.
	ValueAbsent ValueMatchType = "Absent"
)
