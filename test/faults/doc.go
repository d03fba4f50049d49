// Copyright The Penstock Authors.
// SPDX-License-Identifier: Apache-2.0

// Package faults holds the limiter to what it promises when its store fails. Each
// fault meets three sidecars' limiters, one for each onStoreFailure, under load on
// a real Redis; what they did is counted on the wire and at their callers, and
// compared with what is expected. The tests print a row for each fault and mode.
package faults
