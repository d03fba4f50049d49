// Copyright The Penstock Authors.
// SPDX-License-Identifier: Apache-2.0

// Package limiter decides whether a request is within its limits. It takes the
// limits that a request meets, checks all of them and charges all of them or
// none: in Redis by one script on the store's clock, or in memory by the same
// arithmetic. Where the store gives no verdict, Fallback does what each rule
// asked for. The sidecar and the command line import it.
//
// The algorithms are pure functions, one file each; time is in whole
// microseconds, and spans that are not whole carry an exact remainder.
package limiter
