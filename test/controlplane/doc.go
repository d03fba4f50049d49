// Copyright The Penstock Authors.
// SPDX-License-Identifier: Apache-2.0

// Package controlplane runs a real kube-apiserver and etcd for tests, with
// Penstock's kinds installed. Nothing is skipped: a test that finds no programs
// fails and says how to build them.
//
// A test that needs a control plane of its own calls Start. A package whose tests
// share one calls Launch in TestMain, and Stop after the tests.
package controlplane
