// Copyright The Penstock Authors.
// SPDX-License-Identifier: Apache-2.0

// Package expression compiles and evaluates the expressions of policies (CEL) over
// one request. Each yields a bool, a string or a whole number, at a bounded price:
// about a tenth of a millisecond at the worst. What it sees of a request it looks up
// only when it is asked. The matcher evaluates expressions, the compiler of policies
// checks them here, so that both agree on what one may say. The environment that
// compiles them is made with the first: who has none does not pay for it.
package expression
