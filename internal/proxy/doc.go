// Copyright The Penstock Authors.
// SPDX-License-Identifier: Apache-2.0

// Package proxy is the request path of the sidecar and of "penstock run": it
// reads a request once, asks which rules it meets, has them decided, and then
// forwards the request as it was sent or refuses it with an answer that tells the
// client what to do. It listens in front of each port of the app, and on one
// more address for probes and metrics.
package proxy
