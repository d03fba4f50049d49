// Copyright The Penstock Authors.
// SPDX-License-Identifier: Apache-2.0

// Package match says which rules meet a request and whom they count it for. It
// compiles a namespace's rule set for one pod and then answers, for each request
// seen through a small view, with the rules that apply and the identity of each.
// It is pure: no clock, no network, no HTTP stack. The proxy asks it for every
// request, the compiler asks it for the canonical form of path patterns.
package match
