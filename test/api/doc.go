// Copyright The Penstock Authors.
// SPDX-License-Identifier: Apache-2.0

// Package api holds the tests of the API's schema: what a real API server takes
// and what it refuses, and in which words. The bounds are written down here a
// second time, by hand: a bound that changes by accident is seen.
package api
