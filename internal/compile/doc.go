// Copyright The Penstock Authors.
// SPDX-License-Identifier: Apache-2.0

// Package compile turns the policies of a namespace into its rule set, and what
// is wrong with them into problems with the path of a field and how to mend it.
//
// It is pure: it takes values and returns values, asks nobody and reads no clock.
// Its input are API objects as people wrote them and the pods' selectors that
// their targets resolve to; its output is what the operator publishes and reports.
// Everything that the schema and its CEL rules refuse is refused here again, since
// an object may be older than the rule, or come from a file.
package compile
