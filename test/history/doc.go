// Copyright The Penstock Authors.
// SPDX-License-Identifier: Apache-2.0

// Package history checks what the limiter did while many processes asked at once.
// Workers, each a process of its own, decide on a few shared limits and record
// every request: which limits, by the store's clock when, at which cost, with which
// verdict. The checker merges the records by store time and replays them through
// the exact models of test/model: it admits nothing that a model refuses, and
// refuses nothing that it admits. It imports the limiter only to drive it, and
// nothing imports it.
package history
