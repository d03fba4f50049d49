// Copyright The Penstock Authors.
// SPDX-License-Identifier: Apache-2.0

// Package ruleset is the compiled form of a namespace's rate limits and its
// encoding: the contract between the operator, which writes it, and the sidecar,
// which runs it. Everything that needs Kubernetes was resolved before; what is
// left are plain values that the request path reads without asking anyone.
package ruleset
