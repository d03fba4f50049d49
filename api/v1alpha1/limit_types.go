// Copyright The Penstock Authors.
// SPDX-License-Identifier: Apache-2.0

package v1alpha1

// Limit is one limit of a rule: so many requests in so much time.
//
// +kubebuilder:validation:XValidation:rule="!(has(self.algorithm) && self.algorithm == 'Concurrency') || !has(self.window)",reason=FieldValueForbidden,fieldPath=.window,message="Concurrency counts requests at once and has no window: remove window"
// +kubebuilder:validation:XValidation:rule="(has(self.algorithm) && self.algorithm == 'Concurrency') || has(self.window) || has(self.calendar)",reason=FieldValueRequired,fieldPath=.window,message="say in what time: set window, such as 1m, or calendar, such as {period: Day}"
// +kubebuilder:validation:XValidation:rule="!(has(self.window) && has(self.calendar))",reason=FieldValueForbidden,fieldPath=.calendar,message="window and calendar exclude each other: remove one of them"
// +kubebuilder:validation:XValidation:rule="!has(self.calendar) || !has(self.algorithm) || self.algorithm == 'FixedWindow'",reason=FieldValueForbidden,fieldPath=.calendar,message="a calendar window is always a FixedWindow: remove algorithm, or write a window in place of calendar"
// +kubebuilder:validation:XValidation:rule="!has(self.burst) || (!has(self.calendar) && (!has(self.algorithm) || self.algorithm in ['TokenBucket', 'LeakyBucket']))",reason=FieldValueForbidden,fieldPath=.burst,message="only TokenBucket and LeakyBucket have a burst: remove burst, or choose one of them with a window"
// +kubebuilder:validation:XValidation:rule="!(has(self.algorithm) && self.algorithm == 'SlidingWindowLog') || self.requests <= 10000",reason=FieldValueInvalid,fieldPath=.requests,message="SlidingWindowLog remembers each request, at most 10000: lower requests, or choose SlidingWindowCounter"
// +kubebuilder:validation:XValidation:rule="!(has(self.algorithm) && self.algorithm == 'LeakyBucket') || !has(self.window) || double(has(self.burst) ? self.burst : self.requests) * double(duration(self.window).getMilliseconds()) <= 30000.0 * double(self.requests)",reason=FieldValueInvalid,fieldPath=.burst,message="requests would wait longer than 30s (burst × window ÷ requests): set a smaller burst"
type Limit struct {
	// name names the limit in status, metrics and answers, and is part of its
	// counters' keys: another name starts fresh. A DNS-1123 label of at most 63
	// characters, unique in the rule or tier.
	// Example: sustained.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=63
	// +kubebuilder:validation:Pattern=`^[a-z0-9]([-a-z0-9]*[a-z0-9])?$`
	Name string `json:"name"`

	// requests is how many requests (or how much cost) are admitted in a window, or
	// at once with Concurrency. 1 to 2147483648; at most 10000 with
	// SlidingWindowLog.
	// Example: 100.
	// +required
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=2147483648
	Requests int64 `json:"requests"`

	// window is the time in which so many requests are admitted. A duration as in
	// GEP-2257 (units h, m, s and ms) from 10ms to 9600h, which is 400 days.
	// Exactly one of window and calendar is set, neither with Concurrency.
	// Example: 1m30s.
	// +optional
	// +kubebuilder:validation:Pattern=`^([0-9]{1,5}(h|m|s|ms)){1,4}$`
	// +kubebuilder:validation:XValidation:rule="duration(self) >= duration('10ms') && duration(self) <= duration('9600h')",reason=FieldValueInvalid,message="write a window from 10ms to 9600h (400 days)"
	Window Duration `json:"window,omitempty"`

	// calendar makes the window a day, week or month of the calendar, so that
	// counts start anew at midnight. Exactly one of window and calendar is set; the
	// algorithm is then FixedWindow.
	// Example: {period: Day, timeZone: Europe/Berlin}.
	// +optional
	Calendar *Calendar `json:"calendar,omitempty"`

	// burst is how many requests a bucket holds: how many are admitted at once
	// after a pause (TokenBucket), or wait for their turn (LeakyBucket). 1 to
	// 2147483648. Absent means as many as requests. Only with these two algorithms.
	// Example: 20.
	// +optional
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=2147483648
	Burst *int64 `json:"burst,omitempty"`

	// algorithm is how the limit counts. TokenBucket: a bucket that refills evenly.
	// LeakyBucket: requests are delayed to an even pace. SlidingWindowLog: exact over
	// any window. SlidingWindowCounter: nearly so, for large limits. FixedWindow:
	// windows one after the other. Concurrency: requests at once. Absent means
	// TokenBucket, with calendar FixedWindow.
	// Example: FixedWindow.
	// +optional
	Algorithm Algorithm `json:"algorithm,omitempty"`
}

// Duration is a length of time in the form of GEP-2257, such as 1s, 1m30s or 24h.
// +kubebuilder:validation:MinLength=1
// +kubebuilder:validation:MaxLength=32
type Duration string

// Algorithm is how a limit counts.
// +kubebuilder:validation:Enum=TokenBucket;LeakyBucket;SlidingWindowLog;SlidingWindowCounter;FixedWindow;Concurrency
type Algorithm string

// Algorithms.
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
	// period is the length of the window: Day, Week (from Monday) or Month.
	// Example: Day.
	// +required
	Period CalendarPeriod `json:"period"`

	// timeZone is the name of the IANA time zone in which the window starts at
	// midnight. Absent means UTC.
	// Example: Europe/Berlin.
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=63
	// +kubebuilder:validation:Pattern=`^[A-Za-z][A-Za-z0-9_+-]*(/[A-Za-z0-9_+-]+)*$`
	// +kubebuilder:validation:XValidation:rule="self != 'Local'",reason=FieldValueInvalid,message="Local differs from machine to machine: name a zone, such as Europe/Berlin or UTC"
	TimeZone string `json:"timeZone,omitempty"`
}

// CalendarPeriod is the length of a calendar window.
// +kubebuilder:validation:Enum=Day;Week;Month
type CalendarPeriod string

// Periods of the calendar.
const (
	CalendarDay   CalendarPeriod = "Day"
	CalendarWeek  CalendarPeriod = "Week"
	CalendarMonth CalendarPeriod = "Month"
)

// Tier replaces a rule's limits for requests of which its expression holds.
//
// +kubebuilder:validation:XValidation:rule="has(self.limits) || has(self.unlimited)",reason=FieldValueRequired,fieldPath=.limits,message="say what the tier allows: set limits, or unlimited: {}"
// +kubebuilder:validation:XValidation:rule="!(has(self.limits) && has(self.unlimited))",reason=FieldValueForbidden,fieldPath=.unlimited,message="limits and unlimited exclude each other: remove one of them"
type Tier struct {
	// name names the tier in status, and is part of its counters' keys.
	// A DNS-1123 label of at most 63 characters, unique in the rule.
	// Example: pro.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=63
	// +kubebuilder:validation:Pattern=`^[a-z0-9]([-a-z0-9]*[a-z0-9])?$`
	Name string `json:"name"`

	// when is a CEL expression over the request: the tier is for requests of which
	// it holds. One that fails does not hold. At most 1024 characters.
	// Example: "request.headers['x-plan'] == 'pro'".
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=1024
	When string `json:"when"`

	// limits take the place of the rule's limits. 1 to 8. Exactly one of limits and
	// unlimited is set.
	// Example: [{name: sustained, requests: 1000, window: 1m}].
	// +optional
	// +listType=map
	// +listMapKey=name
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=8
	Limits []Limit `json:"limits,omitempty"`

	// unlimited lifts the rule's limits. Exactly one of limits and unlimited is set.
	// Example: {}.
	// +optional
	Unlimited *Unlimited `json:"unlimited,omitempty"`
}

// Unlimited lifts all limits.
type Unlimited struct{}
