// Copyright The Penstock Authors.
// SPDX-License-Identifier: Apache-2.0

// Command sidecar enforces a namespace's rate limits in front of one pod's app.
//
//	sidecar [flags]   proxy the intercepted ports and enforce the rules
//	sidecar drain     tell the sidecar of this pod that the pod ends (preStop)
//
// It takes rule sets in compiled form from the store, or from the snapshot in the
// mounted Secret while the store is away, or from a file to try one out. What the
// pod is comes from the environment: POD_NAME, POD_NAMESPACE, POD_UID and POD_IPS.
package main
