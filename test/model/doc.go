// Copyright The Penstock Authors.
// SPDX-License-Identifier: Apache-2.0

// Package model is the reference for what limits admit: the algorithms as the docs
// and policies describe them, in exact fractions, one request after the other, and
// written apart from the product's arithmetic. Each algorithm says how much of a
// limit is used at a time; all else follows from that. The tests of the limiter
// compare every number with it, and test/history replays records through it.
package model
