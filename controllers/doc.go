// Copyright The Penstock Authors.
// SPDX-License-Identifier: Apache-2.0

// Package controllers notices what changes in the cluster, has it compiled and
// published, and reports on each object what is really in force. The unit of work
// is a namespace: all its policies are compiled together and published as one rule
// set, so conflicts are seen in one place and a deleted policy is simply absent
// from the next publication. What is decided is decided in pure functions
// (conditions, countPods, notIntercepted); this package's reconcilers gather their
// input and write their output.
package controllers
