// Copyright The Penstock Authors.
// SPDX-License-Identifier: Apache-2.0

package ruleset

// Cost is how much a request counts under a rule.
type Cost struct {
	// Request is known before the request goes on.
	Request RequestCost `json:"request"`
	// Response is charged besides once the answer has ended; nil is none.
	Response *ResponseCost `json:"response,omitempty"`
	// CountOn are the status codes of answers that count; none means all. What was
	// charged for another answer is given back.
	CountOn []int `json:"countOn,omitempty"`
}

// RequestCost is a cost that is known before the request goes on.
type RequestCost struct {
	Source CostSource `json:"source"`
	// Value is the cost with CostValue; 0 looks and charges nothing.
	Value int64 `json:"value,omitempty"`
	// Name is the header's, in lower case, the query parameter's, as decoded, or the
	// expression's text.
	Name string `json:"name,omitempty"`
	// Max is the most that a request costs, with all sources but CostValue.
	Max int64 `json:"max,omitempty"`
}

// CostSource is where a cost comes from.
type CostSource string

const (
	// CostValue is a fixed cost.
	CostValue CostSource = "Value"
	// CostHeader is what a request header says.
	CostHeader CostSource = "Header"
	// CostQueryParam is what a query parameter says.
	CostQueryParam CostSource = "QueryParam"
	// CostExpression is what an expression over the request yields.
	CostExpression CostSource = "Expression"
)

// ResponseCost is a cost that the app's answer tells.
type ResponseCost struct {
	// Header is the name of the answer's header, in lower case.
	Header string `json:"header"`
	// Max is the most that an answer costs.
	Max int64 `json:"max"`
}

// IsCorrected reports whether the cost may change once the answer is known.
func (c *Cost) IsCorrected() bool { return c != nil && (c.Response != nil || len(c.CountOn) > 0) }
