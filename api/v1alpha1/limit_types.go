// Copyright The Penstock Authors.
// SPDX-License-Identifier: Apache-2.0

package v1alpha1

// Limit is one limit of a rule.
type Limit struct {
	Name string `json:"name"`
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=2147483648
	Requests int64 `json:"requests"`
	// +optional
	Window Duration `json:"window,omitempty"`
	// +optional
	Calendar *Calendar `json:"calendar,omitempty"`
	// +optional
	Burst *int64 `json:"burst,omitempty"`
	// +optional
	Algorithm Algorithm `json:"algorithm,omitempty"`
}

// Duration is a length of time in the form of GEP-2257, such as 1s, 1m30s or 24h.
type Duration string

// Algorithm is how a limit counts.
// +kubebuilder:validation:Enum=TokenBucket;LeakyBucket;SlidingWindowLog;SlidingWindowCounter;FixedWindow;Concurrency
type Algorithm string

const (
	AlgorithmTokenBucket          Algorithm = "TokenBucket"
	AlgorithmLeakyBucket          Algorithm = "LeakyBucket"
	AlgorithmSlidingWindowLog     Algorithm = "SlidingWindowLog"
	AlgorithmSlidingWindowCounter Algorithm = "SlidingWindowCounter"
	AlgorithmFixedWindow          Algorithm = "FixedWindow"
	AlgorithmConcurrency          Algorithm = "Concurrency"
)

// Calendar is a window of the calendar.
type Calendar struct {
	Period CalendarPeriod `json:"period"`
	// +optional
	TimeZone string `json:"timeZone,omitempty"`
}

// CalendarPeriod is the length of a calendar window.
// +kubebuilder:validation:Enum=Day;Week;Month
type CalendarPeriod string

const (
	CalendarDay   CalendarPeriod = "Day"
	CalendarWeek  CalendarPeriod = "Week"
	CalendarMonth CalendarPeriod = "Month"
)

// Tier replaces a rule's limits for requests of which its expression holds.
type Tier struct {
	Name string `json:"name"`
	When string `json:"when"`
	// +optional
	Limits []Limit `json:"limits,omitempty"`
	// +optional
	Unlimited *Unlimited `json:"unlimited,omitempty"`
}

// Unlimited lifts all limits.
type Unlimited struct{}

// Cost says how much a request counts.
type Cost struct {
	// +optional
	Request *RequestCost `json:"request,omitempty"`
	// +optional
	Response *ResponseCost `json:"response,omitempty"`
	// +optional
	CountOn *CountOn `json:"countOn,omitempty"`
}

// RequestCost is a cost that is known from the request: exactly one source.
type RequestCost struct {
	// +optional
	Value *int64 `json:"value,omitempty"`
	// +optional
	Header *HeaderName `json:"header,omitempty"`
	// +optional
	QueryParam *NamedKey `json:"queryParam,omitempty"`
	// +optional
	Expression string `json:"expression,omitempty"`
	// +optional
	Max *int64 `json:"max,omitempty"`
}

// ResponseCost is a cost that the app's answer tells.
type ResponseCost struct {
	// header is the name of the answer's header.
	Header string `json:"header"`
	// +optional
	Max *int64 `json:"max,omitempty"`
}

// CountOn counts only requests that were answered like this.
type CountOn struct {
	StatusCodes []string `json:"statusCodes"`
}
