// Copyright The Penstock Authors.
// SPDX-License-Identifier: Apache-2.0

// Package appprobe performs the probes that an app declares, on behalf of a kubelet
// that cannot reach the app by itself: HTTP, TCP and gRPC, as a kubelet performs them.
// Set reads what there is to probe from JSON in the words of a pod's spec; Prober asks
// the app. The admin listener of the sidecar serves it.
package appprobe
