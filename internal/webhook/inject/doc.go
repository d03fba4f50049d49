// Copyright The Penstock Authors.
// SPDX-License-Identifier: Apache-2.0

// Package inject decides whether a pod gets a sidecar and writes the JSON patch
// that adds it. It is pure: a pod as the API server sent it, what is known of its
// namespace and how the sidecar should look go in; patch operations and a report
// come out. The operations are built by hand and never derived from a diff of
// typed pods, so fields of a pod that this program does not know survive, and
// each change is guarded by a test of what it was decided on.
package inject
