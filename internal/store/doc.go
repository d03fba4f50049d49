// Copyright The Penstock Authors.
// SPDX-License-Identifier: Apache-2.0

// Package store keeps rule sets and acks in Redis: the operator publishes a
// namespace's rule set with a number that only grows, sidecars watch it and
// acknowledge what they have put in force, and the operator reads that back. It
// is the only package that knows the form of these keys. Counters are not its
// business, see package limiter.
//
// Rule sets have no expiry: a namespace's limits must outlive an operator that is
// down. Acks expire an hour after the last beat of any pod of the namespace.
package store
