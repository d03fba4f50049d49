// Copyright The Penstock Authors.
// SPDX-License-Identifier: Apache-2.0

// Command manager is the operator: it compiles rate limit policies, publishes them
// to the store, reports what pods enforce, and injects sidecars. Exit status: 0
// stopped by a signal, 1 failed, 2 called wrongly.
package main
