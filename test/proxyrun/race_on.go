// Copyright The Penstock Authors.
// SPDX-License-Identifier: Apache-2.0

//go:build race

package proxyrun

// raceDetector says that the tests run with the race detector.
const raceDetector = true
