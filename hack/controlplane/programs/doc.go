// Copyright The Penstock Authors.
// SPDX-License-Identifier: Apache-2.0

// Package programs builds the third-party programs that tests, the demo and the
// local cluster run: Kubernetes, etcd, containerd, runc and CoreDNS, each from the
// Go modules that a tool module of this repository pins. Nothing prebuilt is
// downloaded. A program that is already there and current is not built again.
// It is imported by hack/controlplane and hack/cluster only.
package programs
