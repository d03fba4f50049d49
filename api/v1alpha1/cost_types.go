// Copyright The Penstock Authors.
// SPDX-License-Identifier: Apache-2.0

package v1alpha1

// Cost says how much a request counts.
// +kubebuilder:validation:MinProperties=1
type Cost struct {
	// request is a cost that is known from the request. Absent: 1.
	// Example: {value: 5}.
	// +optional
	Request *RequestCost `json:"request,omitempty"`

	// response is a cost that the app's answer tells, charged after it and besides
	// the cost of the request. Absent: none. Not with LeakyBucket, Concurrency and
	// precision Leased.
	// Example: {header: X-Cost, max: 10000}.
	// +optional
	Response *ResponseCost `json:"response,omitempty"`

	// countOn counts only requests that were answered in a certain way: the cost is
	// charged before, and given back unless the answer is like that. A client that
	// leaves before the answer stays charged. Absent: every request counts. Not with
	// LeakyBucket, Concurrency and precision Leased.
	// Example: {statusCodes: ["401", "403"]}.
	// +optional
	CountOn *CountOn `json:"countOn,omitempty"`
}

// RequestCost is a cost that is known from the request: exactly one source.
//
// +kubebuilder:validation:XValidation:rule="[has(self.value), has(self.header), has(self.queryParam), has(self.expression)].exists_one(given, given)",reason=FieldValueInvalid,fieldPath=.value,message="a cost has one source: set exactly one of value, header, queryParam and expression"
// +kubebuilder:validation:XValidation:rule="!has(self.max) || !has(self.value)",reason=FieldValueForbidden,fieldPath=.max,message="max bounds what a request says, value is yours: remove max"
type RequestCost struct {
	// value is a fixed cost, 0 to 2147483648. 0 looks whether the limit is used up
	// and charges nothing. Exactly one of value, header, queryParam and
	// expression is set.
	// Example: 5.
	// +optional
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=2147483648
	Value *int64 `json:"value,omitempty"`

	// header takes the cost from a request header. Anything else than a whole
	// number above 0 counts as 1, and of several the largest counts. Exactly one of
	// value, header, queryParam and expression is set.
	// Example: {name: X-Items}.
	// +optional
	Header *HeaderName `json:"header,omitempty"`

	// queryParam takes the cost from a query parameter. Anything else than a whole
	// number above 0 counts as 1, and of several the largest counts. Exactly one of
	// value, header, queryParam and expression is set.
	// Example: {name: limit}.
	// +optional
	QueryParam *NamedKey `json:"queryParam,omitempty"`

	// expression takes the whole number that a CEL expression over the request
	// yields. One that fails counts as 1. At most 1024 characters. Exactly one of
	// value, header, queryParam and expression is set.
	// Example: "int(request.query['items'])".
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=1024
	Expression string `json:"expression,omitempty"`

	// max is the most that one request costs, whatever it says. 1 to 2147483648.
	// Absent: the smallest capacity of the rule's limits. Not with value.
	// Example: 100.
	// +optional
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=2147483648
	Max *int64 `json:"max,omitempty"`
}

// ResponseCost is a cost that the app's answer tells.
type ResponseCost struct {
	// header is the name of the answer's header, or trailer, with the cost: a whole
	// number, anything else adds nothing. The client gets it, too. Case does not
	// matter. At most 63 characters.
	// Example: X-Cost.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=63
	// +kubebuilder:validation:Pattern=`^[A-Za-z0-9!#$%&'*+.^_|~-]+$`
	Header string `json:"header"`

	// max is the most that one answer adds, whatever it says. 1 to 2147483648.
	// Absent: the smallest capacity of the rule's limits.
	// Example: 10000.
	// +optional
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=2147483648
	Max *int64 `json:"max,omitempty"`
}

// CountOn counts only requests that were answered like this.
type CountOn struct {
	// statusCodes are the status codes of answers that count, as strings. 1 to 32.
	// Example: ["401", "403"].
	// +required
	// +listType=atomic
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=32
	// +kubebuilder:validation:items:MinLength=3
	// +kubebuilder:validation:items:MaxLength=3
	// +kubebuilder:validation:items:Pattern=`^[1-5][0-9][0-9]$`
	StatusCodes []string `json:"statusCodes"`
}
