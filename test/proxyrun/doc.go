// Copyright The Penstock Authors.
// SPDX-License-Identifier: Apache-2.0

// Package proxyrun gives tests the built programs as a user runs them: it builds
// them once for each test binary, starts `sidecar` or `penstock run` in front of an
// app, waits until it serves, and ends it with the test. Tests of test/proxy, of the
// benchmark and of single features use it; nothing of the product does.
package proxyrun
